#include <cmath>
#include <utility>

#include "passes/simplify_rules.h"

namespace cellfuse {

namespace {

constexpr int kLargestUnrolledPower = 4;

bool is_zero_or_one(Expr e) {
  switch (e.node().op) {
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
    case Op::Eq:
    case Op::Ne:
    case Op::And:
    case Op::Or:
    case Op::Not:
    case Op::Step: return true;
    default: return is_constant(e, 0) || is_constant(e, 1);
  }
}

/// True when x / value and x * (1 / value) are the same in every dtype.
bool has_exact_reciprocal(double value) {
  int exponent = 0;
  return std::frexp(std::fabs(value), &exponent) == 0.5 && std::abs(exponent) < 14;
}

Expr simplify_sum(Simplifier& simplify, Expr e) {
  Expr a = operand(e, 0);
  Expr b = operand(e, 1);
  if (is_constant(a, 0)) return b;
  if (is_constant(b, 0)) return a;
  if (is(b, Op::Neg)) return simplify(a - operand(b, 0));
  if (is(a, Op::Neg)) return simplify(b - operand(a, 0));
  return {};
}

Expr simplify_difference(Simplifier& simplify, Expr e) {
  Expr a = operand(e, 0);
  Expr b = operand(e, 1);
  if (is_constant(b, 0)) return a;
  if (is(b, Op::Neg)) return simplify(a + operand(b, 0));
  return {};
}

/// True for `x == 0`.
bool is_negation_of(Expr e, Expr x) {
  return is(e, Op::Eq) && operand(e, 0).id == x.id && is_constant(operand(e, 1), 0);
}

Expr simplify_product(Simplifier& simplify, Expr e) {
  for (std::size_t i = 0; i < 2; ++i) {
    Expr a = operand(e, i);
    Expr b = operand(e, 1 - i);
    if (is_zero_or_one(a) && a.id == b.id) return a;
    if (is_zero_or_one(a) && is_negation_of(b, a)) return constant(*e.graph, 0, e.shape());
    if (is_constant(b, 1)) return a;
    if (is_constant(b, -1)) return simplify(-a);
    if (!is(a, Op::Neg)) continue;
    if (is(b, Op::Constant)) return simplify(operand(a, 0) * -b.node().value);
    return simplify(-simplify(operand(a, 0) * b));
  }
  return {};
}

Expr simplify_quotient(Simplifier& simplify, Expr e) {
  Expr a = operand(e, 0);
  Expr b = operand(e, 1);
  if (is_constant(b, 1)) return a;
  if (is(b, Op::Constant) && has_exact_reciprocal(b.node().value)) return simplify(a * (1.0 / b.node().value));
  if (is(a, Op::Neg) && is(b, Op::Constant)) return simplify(operand(a, 0) / -b.node().value);
  if (is(a, Op::Neg)) return simplify(-simplify(operand(a, 0) / b));
  if (is(b, Op::Neg)) return simplify(-simplify(a / operand(b, 0)));
  return {};
}

Expr simplify_negation(Simplifier& simplify, Expr e) {
  Expr a = operand(e, 0);
  if (is(a, Op::Neg)) return operand(a, 0);
  if (is(a, Op::Mul) && is(operand(a, 1), Op::Constant)) return simplify(operand(a, 0) * -operand(a, 1).node().value);
  if (is(a, Op::Mul) && is(operand(a, 0), Op::Constant)) return simplify(-operand(a, 0).node().value * operand(a, 1));
  return {};
}

/// x, for a condition that is `x == 0` (or `x != 0` when not `equal`), also behind a broadcast.
Expr compared_with_zero(Simplifier& simplify, Expr condition, bool equal) {
  Expr c = is(condition, Op::Broadcast) ? operand(condition, 0) : condition;
  const bool negation = equal && is(c, Op::Not);
  const bool comparison = is(c, equal ? Op::Eq : Op::Ne) && is_constant(operand(c, 1), 0);
  if (!negation && !comparison) return {};
  if (c.id == condition.id) return operand(c, 0);
  Node spread = condition.node();
  spread.operands = {c.node().operands[0]};
  return simplify({c.graph, c.graph->add(std::move(spread))});
}

/// In a branch of a `where`, another one with the same condition is decided, also one step further inside cheap work.
Expr decided_branch(Simplifier& simplify, Expr branch, Expr condition, std::size_t taken) {
  if (is(branch, Op::Where) && operand(branch, 0).id == condition.id) return operand(branch, taken);
  if (!is_elementwise(branch.node().op) || cost(branch.node().op) > Cost::Cheap) return {};
  bool some = false;
  std::vector<Expr> operands;
  for (std::size_t i = 0; i < branch.node().operands.size(); ++i) {
    Expr x = operand(branch, i);
    const bool decided = is(x, Op::Where) && operand(x, 0).id == condition.id;
    operands.push_back(decided ? operand(x, taken) : x);
    some = some || decided;
  }
  return some ? simplify(cellfuse::apply(branch.node().op, operands)) : Expr{};
}

Expr simplify_where(Simplifier& simplify, Expr e) {
  Expr c = operand(e, 0);
  Expr a = operand(e, 1);
  Expr b = operand(e, 2);
  if (is(c, Op::Constant)) return c.node().value != 0 ? a : b;
  if (a.id == b.id) return a;
  if (Expr opposite = compared_with_zero(simplify, c, true)) return simplify(where(opposite, b, a));
  if (Expr same = compared_with_zero(simplify, c, false)) return simplify(where(same, a, b));
  if (Expr decided = decided_branch(simplify, a, c, 1)) return simplify(where(c, decided, b));
  if (Expr decided = decided_branch(simplify, b, c, 2)) return simplify(where(c, a, decided));
  if (is_constant(a, 1) && is_constant(b, 0) && is_zero_or_one(c)) return c;
  return {};
}

/// Whole exponents of small size become products, which are faster and at least as exact as most `pow`.
Expr simplify_power(Simplifier& simplify, Expr e) {
  Expr a = operand(e, 0);
  if (!is(operand(e, 1), Op::Constant)) return {};
  double exponent = operand(e, 1).node().value;
  if (exponent != std::floor(exponent) || std::fabs(exponent) > kLargestUnrolledPower) return {};
  if (exponent == 0) return constant(*e.graph, 1, e.shape());
  Expr square = std::fabs(exponent) >= 2 ? simplify(a * a) : a;
  Expr power = a;
  if (std::fabs(exponent) == 2) power = square;
  if (std::fabs(exponent) == 3) power = simplify(square * a);
  if (std::fabs(exponent) == 4) power = simplify(square * square);
  return exponent > 0 ? power : simplify(1.0 / power);
}

bool is_commutative(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Mul:
    case Op::And:
    case Op::Or:
    case Op::Min:
    case Op::Max:
    case Op::Eq:
    case Op::Ne: return true;
    default: return false;
  }
}

Expr apply_algebra(Simplifier& simplify, Expr e) {
  switch (e.node().op) {
    case Op::Add: return simplify_sum(simplify, e);
    case Op::Sub: return simplify_difference(simplify, e);
    case Op::Mul: return simplify_product(simplify, e);
    case Op::Div: return simplify_quotient(simplify, e);
    case Op::Neg: return simplify_negation(simplify, e);
    case Op::Where: return simplify_where(simplify, e);
    case Op::Pow: return simplify_power(simplify, e);
    case Op::Ne:
      if (is_constant(operand(e, 1), 0) && is_zero_or_one(operand(e, 0))) return operand(e, 0);
      return {};
    default: return {};
  }
}

}  // namespace

Expr Simplifier::commuted(Expr raw) {
  NodeId a = raw.node().operands[0];
  NodeId b = raw.node().operands[1];
  auto [it, fresh] = commutative_.try_emplace({raw.node().op, std::min(a, b), std::max(a, b)}, raw.id);
  return {raw.graph, it->second};
}

Expr simplify_algebra(Simplifier& simplify, Expr e) {
  if (Expr simpler = apply_algebra(simplify, e)) return simpler;
  if (!is_elementwise(e.node().op) || !is_commutative(e.node().op)) return {};
  Expr first = simplify.commuted(e);
  return first.id == e.id ? Expr{} : first;
}

}  // namespace cellfuse
