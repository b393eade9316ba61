#pragma once

#include <map>
#include <string>

#include "ir/dim.h"

namespace cellfuse {

/// What a cell is compiled for: values of its dimensions and of its real constants. What is missing takes its default.
struct Binding {
  DimBinding dims;
  std::map<std::string, double> constants;
};

}  // namespace cellfuse
