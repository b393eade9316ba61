#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/language/ast.h"
#include "frontend/language/value.h"

namespace cellfuse {

/// The arguments a function takes.
struct Signature {
  struct Parameter {
    std::string name;
    bool optional = false;
    std::optional<double> default_value;
  };
  std::string function;
  std::vector<Parameter> parameters;
  std::string shown;      ///< the parameters as text
  bool variadic = false;  ///< more arguments like the last one may follow

  /// Reads "x, gain?, eps=1e-5" or "a, ...".
  static Signature read(std::string_view function, std::string_view parameters);
  static Signature of(const ast::Function& function);
  /// `layer_norm(x, gain?, bias?, eps=1e-5)`
  std::string str() const { return function + "(" + shown + ")"; }
};

/// Arguments of one call in the order of the parameters, defaults filled in.
struct Arguments {
  std::vector<Value> values;
  std::vector<Span> spans;  ///< of the call where an argument was not given
  std::vector<bool> given;

  bool all_known() const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (given[i] && !values[i].known) return false;
    }
    return true;
  }
};

}  // namespace cellfuse
