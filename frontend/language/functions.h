#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frontend/language/signature.h"
#include "frontend/language/value.h"

namespace cellfuse {

class Analyzer;

/// One call of a function of the language that is not elementwise.
struct FunctionCall {
  Analyzer& analyzer;
  std::string_view function;
  const Arguments& arguments;
  Span span;

  const Value& value(std::size_t i) const { return arguments.values[i]; }
  bool given(std::size_t i) const { return arguments.given[i]; }
  /// Reports about argument `i` as "`function` what". Returns an unknown value to hand back.
  Value fail(std::size_t i, const std::string& what, const std::string& hint = {}) const;
};

/// One row of `functions.def`.
struct FunctionInfo {
  std::string_view name;
  std::string_view parameters;  ///< "x, gain?, eps=1e-5": `?` is optional, `...` takes more like the last
  Value (*analyze)(const FunctionCall& call);
};

/// The functions of the language that are not elementwise. The elementwise ones are `elementwise_ops()`.
std::span<const FunctionInfo> language_functions();
const FunctionInfo* find_language_function(std::string_view name);

}  // namespace cellfuse
