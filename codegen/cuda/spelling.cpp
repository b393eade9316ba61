#include "codegen/cuda/spelling.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/diagnostic.h"
#include "ir/print_node.h"

namespace cellfuse::cuda {

std::string operand(const Expression& expression, Expression::Precedence least) {
  return expression.precedence < least ? "(" + expression.text + ")" : expression.text;
}

std::string number(double value, DType compute) {
  const bool single = compute != DType::Float64;
  const std::string type = single ? "float()" : "double()";
  if (std::isnan(value)) return "not_a_number(" + type + ")";
  if (single) value = static_cast<float>(value);
  if (std::isinf(value)) return (value < 0 ? "-infinity(" : "infinity(") + type + ")";
  std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return single ? text + "f" : text;
}

namespace {

Expression::Precedence precedence_of(std::string_view symbol) {
  switch (symbol.front()) {
    case '*':
    case '/': return Expression::Product;
    case '+':
    case '-': return Expression::Sum;
    default: return Expression::Comparison;
  }
}

Expression infix(std::string_view symbol, const Expression& a, const Expression& b, bool vector) {
  const Expression::Precedence precedence = precedence_of(symbol);
  // a + (b + c) keeps its parentheses: the order of additions is part of the meaning.
  const auto tighter = static_cast<Expression::Precedence>(precedence + 1);
  const auto left = precedence == Expression::Comparison ? tighter : precedence;
  std::string text = fmt::format("{} {} {}", operand(a, left), symbol, operand(b, tighter));
  if (precedence == Expression::Comparison && !vector) return {"Real(" + text + ")", Expression::Primary};
  return {text, precedence};
}

}  // namespace

Expression spell(Op op, const std::vector<Expression>& operands, bool vector) {
  const std::string_view symbol = operator_of(op);
  if (operands.size() == 2 && !symbol.empty()) return infix(symbol, operands[0], operands[1], vector);
  if (operands.size() == 1 && symbol == "-") {
    return {"-" + operand(operands[0], Expression::Primary), Expression::Prefix};
  }
  const std::string_view spelling = elementwise(op).spelling;
  check_internal(!spelling.starts_with('.'), "codegen/cuda", "an operation without a spelling");
  std::string arguments;
  for (const Expression& argument : operands) arguments += (arguments.empty() ? "" : ", ") + argument.text;
  return {fmt::format("math::{}({})", spelling, arguments), Expression::Primary};
}

}  // namespace cellfuse::cuda
