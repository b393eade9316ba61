#include "frontend/language/signature.h"

#include <cstdlib>

namespace cellfuse {

Signature Signature::read(std::string_view function, std::string_view parameters) {
  Signature signature;
  signature.function = function;
  signature.shown = parameters;
  while (!parameters.empty()) {
    const std::size_t comma = parameters.find(", ");
    std::string part(parameters.substr(0, comma));
    parameters.remove_prefix(comma == std::string_view::npos ? parameters.size() : comma + 2);
    if (part == "...") {
      signature.variadic = true;
      continue;
    }
    Parameter& parameter = signature.parameters.emplace_back();
    if (const std::size_t equal = part.find('='); equal != std::string::npos) {
      parameter.default_value = std::strtod(part.c_str() + equal + 1, nullptr);
      part.resize(equal);
    } else if (part.ends_with('?')) {
      parameter.optional = true;
      part.pop_back();
    }
    parameter.name = part;
  }
  return signature;
}

Signature Signature::of(const ast::Function& function) {
  Signature signature;
  signature.function = function.name.name;
  for (const ast::Identifier& parameter : function.parameters) {
    signature.shown += (signature.shown.empty() ? "" : ", ") + parameter.name;
    signature.parameters.push_back({parameter.name, false, {}});
  }
  return signature;
}

}  // namespace cellfuse
