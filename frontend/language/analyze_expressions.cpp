#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "frontend/language/analyzer.h"

namespace cellfuse {

namespace {

constexpr double kMaxWhole = 9007199254740992.0;  // 2^53: whole numbers up to here are exact in float64

std::string symbol_of(Op op) {
  switch (op) {
    case Op::Add: return "+";
    case Op::Sub:
    case Op::Neg: return "-";
    case Op::Mul: return "*";
    case Op::Div: return "/";
    case Op::Pow: return "^";
    case Op::Lt: return "<";
    case Op::Le: return "<=";
    case Op::Gt: return ">";
    case Op::Ge: return ">=";
    case Op::Eq: return "==";
    case Op::Ne: return "!=";
    default: return std::string(name(op));
  }
}

/// The result of an operation on whole numbers and dimensions, where it is one again.
std::optional<Dim> fold_dims(Op op, const std::vector<Dim>& dims) {
  switch (op) {
    case Op::Neg: return Dim(0) - dims[0];
    case Op::Add: return dims[0] + dims[1];
    case Op::Sub: return dims[0] - dims[1];
    case Op::Mul: return dims[0] * dims[1];
    case Op::Div: return divide(dims[0], dims[1]);
    default: return std::nullopt;
  }
}

Span between(const Span& begin, const Span& end) { return {begin.source, begin.begin, std::max(begin.begin, end.end)}; }

}  // namespace

Value Analyzer::evaluate(const ast::ExpressionPtr& expression) {
  const Span& span = expression->span;
  spend(span);
  if (depth_ >= kMaxDepth) {
    error(span, "the expression is nested too deeply once functions are inlined");
    return {};
  }
  ++depth_;
  Value value;
  try {
    value = evaluate_node(*expression);
    if (value.known && !sizes_.check_limits(value.axes, span)) value = {};
  } catch (const DimOverflow& overflow) {
    error(span, overflow.what());
    value = {};
  }
  --depth_;
  if (value.expr) graph().set_span(value.expr.id, span);
  return value;
}

Value Analyzer::evaluate_node(const ast::Expression& expression) {
  struct Visitor {
    Analyzer& analyzer;
    const Span& span;
    Value operator()(const ast::Unreadable&) const { return {}; }
    Value operator()(const ast::Number& number) const { return analyzer.evaluate(number); }
    Value operator()(const ast::Name& name) const { return analyzer.evaluate(name, span); }
    Value operator()(const ast::Unary& unary) const { return analyzer.evaluate(unary, span); }
    Value operator()(const ast::Chain& chain) const { return analyzer.evaluate(chain, span); }
    Value operator()(const ast::Call& call) const { return analyzer.evaluate(call, span); }
    Value operator()(const ast::Index& index) const { return analyzer.evaluate(index, span); }
  };
  return std::visit(Visitor{*this, expression.span}, expression.node);
}

Value Analyzer::evaluate(const ast::Number& number) {
  Number result = Number::of(number.value);
  if (number.whole && number.value <= kMaxWhole) result.dim = Dim(static_cast<std::int64_t>(number.value));
  return Value::scalar(result);
}

Value Analyzer::evaluate(const ast::Name& name, const Span& span) {
  if (name.next) return next_value(name.name, span);
  if (name.name == "t" && scope_->find("t") == nullptr) {
    if (in_start_) {
      error(span, "the start of a state is made before the first step, where there is no `t`");
      return {};
    }
    Value t{true, {}, {}, {}, {}};
    if (building()) t.expr = leaf(graph(), Op::StepIndex, 0, {});
    return t;
  }
  Symbol* symbol = scope_->find(name.name);
  if (symbol == nullptr) return unknown_name(name.name, span);
  symbol->used = true;
  if (in_start_ && (symbol->kind == Symbol::Kind::Input || symbol->kind == Symbol::Kind::State)) {
    error(span, "the start of a state is made before the first step, where `" + name.name + "` is not known",
          "a start is a number, a param or a buffer");
    return {};
  }
  return symbol->value;
}

Value Analyzer::next_value(const std::string& name, const Span& span) {
  const Symbol* state = scope_->within(cell_scope_) ? cell_scope_.find_own(name) : nullptr;
  if (const auto next = next_.find(name); next != next_.end() && state != nullptr) return next->second;
  if (state == nullptr || state->kind != Symbol::Kind::State) {
    if (ast_.incomplete && state == nullptr) return {};
    error(span, "`" + name + "` is not a state", "`'` stands for the next value of a state");
    return {};
  }
  std::vector<Diagnostic> notes;
  if (const auto later = later_.find(name + "'"); later != later_.end()) {
    notes.push_back(note(later->second, "it gets its value here"));
  } else if (ast_.incomplete) {
    return {};
  }
  reporter_.error(span, "`" + name + "'` has no value yet", "`" + name + "` is the value before this step",
                  std::move(notes));
  return {};
}

Value Analyzer::unknown_name(const std::string& name, const Span& span) {
  if (const auto later = later_.find(name); later != later_.end() && scope_ == &cell_scope_) {
    reporter_.error(span, "`" + name + "` is used before it is defined", "",
                    {note(later->second, "it is defined here")});
    return {};
  }
  if (ast_.incomplete) return {};
  const std::vector<std::string> functions = function_names();
  std::string hint;
  if (std::ranges::find(functions, name) != functions.end()) {
    hint = "`" + name + "` is a function: call it with its arguments, `" + name + "(...)`";
  } else {
    std::vector<std::string> names = scope_->names();
    names.emplace_back("t");
    hint = did_you_mean(name, names);
  }
  error(span, "`" + name + "` is not defined", hint);
  return {};
}

Value Analyzer::evaluate(const ast::Unary& unary, const Span& span) {
  const Value operand = evaluate(unary.operand);
  return elementwise(cellfuse::elementwise(unary.op), {operand}, span);
}

Value Analyzer::evaluate(const ast::Chain& chain, const Span& span) {
  Value left = evaluate(chain.first);
  bool behind_product = false;
  for (const ast::Link& link : chain.rest) {
    spend(link.op_span);
    const Value right = evaluate(link.operand);
    left = apply_link(link, left, right, behind_product);
    behind_product = behind_product || link.op == Op::Mul;
    if (left.expr) graph().set_span(left.expr.id, between(span, link.operand->span));
    if (left.known && !sizes_.check_limits(left.axes, link.op_span)) left = {};
  }
  return left;
}

Value Analyzer::apply_link(const ast::Link& link, const Value& left, const Value& right, bool behind_product) {
  if (!left.known || !right.known) return {};
  const bool mixed = (left.rank() == 2 && right.rank() == 1) || (left.rank() == 1 && right.rank() == 2);
  if (link.op == Op::MatMul || (link.product && mixed)) return matmul(left, right, link.op_span, behind_product);
  return elementwise(cellfuse::elementwise(link.op), {left, right}, link.op_span);
}

Value Analyzer::matmul(const Value& left, const Value& right, const Span& span, bool behind_product) {
  const std::string what = describe(left.axes) + " with " + describe(right.axes);
  if (left.rank() == 0 || right.rank() == 0 || left.rank() + right.rank() == 2) {
    error(span, "`@` cannot combine " + what,
          left.rank() + right.rank() == 2 && left.rank() == 1 ? "the inner product of two vectors is `sum(a * b)`"
                                                              : "a product with a scalar is written `*`",
          {&left, &right});
    return {};
  }
  if (!sizes_.agree(left.axes.back(), right.axes.front(), span)) {
    const std::string hint = behind_product ? "`*` and `@` bind alike, from the left: write `g * (W @ x)`"
                             : left.rank() == 2 && right.rank() == 2 && sizes_.agree(left.axes[0], right.axes[0], span)
                                 ? "transpose one side"
                                 : "";
    error(span,
          "`@` cannot combine " + what + ": " + left.axes.back().dim.str() + " against " +
              right.axes.front().dim.str() + sizes_.values_of({left.axes.back()}, {right.axes.front()}),
          hint, {&left, &right});
    return {};
  }
  Axes axes;
  if (left.rank() == 2) axes.push_back(left.axes[0]);
  if (right.rank() == 2) axes.push_back(right.axes[1]);
  return result(std::move(axes), left.rank() == 2 ? left : right,
                [&] { return cellfuse::matmul(expr_of(left), expr_of(right)); });
}

Value Analyzer::elementwise(const ElementwiseInfo& info, const std::vector<Value>& arguments, const Span& span) {
  bool numbers = true;
  for (const Value& argument : arguments) {
    if (!argument.known) return {};
    numbers = numbers && argument.is_number();
  }
  if (numbers) return Value::scalar(fold(info, arguments, span));
  Axes axes;
  const Value* origin = &arguments.front();
  for (const Value& argument : arguments) {
    std::optional<Axes> joined = sizes_.broadcast(axes, argument.axes, span);
    if (!joined) {
      const bool product = info.op == Op::Mul && axes.size() + argument.axes.size() == 3;
      error(span,
            "`" + symbol_of(info.op) + "` cannot combine " + describe(axes) + " with " + describe(argument.axes) +
                sizes_.values_of(axes, argument.axes),
            product ? "the product of a matrix and a vector is written `W @ x`" : "", {origin, &argument});
      return {};
    }
    if (argument.rank() > origin->rank() || (origin->is_number() && !argument.is_number())) origin = &argument;
    axes = std::move(*joined);
  }
  return result(std::move(axes), *origin, [&] {
    std::vector<Expr> operands;
    operands.reserve(arguments.size());
    for (const Value& argument : arguments) operands.push_back(expr_of(argument));
    return cellfuse::apply(info.op, operands);
  });
}

Number Analyzer::fold(const ElementwiseInfo& info, const std::vector<Value>& arguments, const Span& span) {
  Number folded;
  std::array<double, 3> values{};
  std::vector<Dim> dims;
  bool valued = true;
  bool real = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Number& number = *arguments[i].number;
    valued = valued && number.value.has_value();
    values[i] = number.value.value_or(0);
    real = real || (!number.dim && !number.opaque);
    if (number.dim) dims.push_back(*number.dim);
    if (number.inexact && !folded.inexact) folded.inexact = number.inexact;
  }
  if (info.op == Op::Div && valued && values[1] == 0) error(span, "division by zero");
  if (valued) folded.value = info.evaluate(values[0], values[1], values[2]);
  if (real) return folded;
  if (dims.size() == arguments.size()) folded.dim = fold_dims(info.op, dims);
  if (!folded.dim) folded.inexact = {};
  if (info.op == Op::Div && folded.dim && !folded.inexact && leaves_remainder(dims[0], dims[1])) folded.inexact = span;
  if (folded.dim) return folded;
  // Whole results of other functions are sizes too, once they are known: floor(H / 2).
  folded.opaque = !valued;
  if (valued && std::abs(*folded.value) <= kMaxWhole && std::floor(*folded.value) == *folded.value) {
    folded.dim = Dim(static_cast<std::int64_t>(*folded.value));
  }
  return folded;
}

bool Analyzer::leaves_remainder(const Dim& dividend, const Dim& divisor) const {
  const std::optional<std::int64_t> a = sizes_.evaluate(dividend);
  const std::optional<std::int64_t> b = sizes_.evaluate(divisor);
  return a && b && (*b == 0 || *a % *b != 0);
}

bool Analyzer::fits(const Axes& from, const Axes& to, const Span& span) {
  if (from.size() > to.size()) return false;
  const std::size_t lead = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].dim.constant() != 1 && !sizes_.agree(from[i], to[lead + i], span)) return false;
  }
  return true;
}

}  // namespace cellfuse
