#pragma once

#include <string>
#include <vector>

#include "frontend/cli/case.h"
#include "ir/cell.h"

namespace cellfuse::testing {

/// Names of the cells of tests/zoo, sorted.
std::vector<std::string> zoo_names();

/// A published cell as the language gives it, with the dimensions of its case.
struct ZooCell {
  Cell cell;
  Case test;
};
ZooCell zoo_cell(const std::string& name);

/// The only cell of a text.
Cell cell_from_text(const std::string& text, const DimBinding& dims);

}  // namespace cellfuse::testing
