#include "ir/diagnostic.h"
#include "ir/functions.h"
#include "passes/gradient_rules.h"

namespace cellfuse {

namespace {

Expr transposed(Expr x) { return x.node().op == Op::Transpose ? Expr{x.graph, x.node().operands[0]} : transpose(x); }

/// A condition on each row, each column or the whole of an operand of `shape`, for each of its elements.
Expr spread_rows(Expr condition, const Shape& shape) {
  return condition && shape.rank() == 2 ? restore_axis(condition, shape, 1) : condition;
}
Expr spread_columns(Expr condition, const Shape& shape) {
  return condition && shape.rank() == 2 ? restore_axis(condition, shape, 0) : condition;
}
Expr spread_all(Expr condition, const Shape& shape) { return condition ? broadcast_to(condition, shape) : condition; }

}  // namespace

Expr GradientRules::untaken_rows() const {
  const Expr& u = g_.untaken;
  return u && u.shape().rank() == 2 ? reduce(Op::AMin, u, 1) : u;
}

Expr GradientRules::untaken_columns() const {
  const Expr& u = g_.untaken;
  return u && u.shape().rank() == 2 ? reduce(Op::AMin, u, 0) : u;
}

Expr GradientRules::untaken_all() const {
  Expr u = g_.untaken;
  while (u && u.shape().rank() > 0) u = reduce(Op::AMin, u, u.shape().rank() - 1);
  return u;
}

Expr GradientRules::gate(Expr factor, Expr untaken) {
  // A parameter is taken to be finite, so that its products stay products with it.
  if (!untaken || factor.node().domain == Domain::Once) return factor;
  return zero_where(untaken, factor);
}

Expr GradientRules::gate_rows(Expr factor) { return gate(factor, spread_rows(untaken_rows(), factor.shape())); }
Expr GradientRules::gate_columns(Expr factor) {
  return gate(factor, spread_columns(untaken_columns(), factor.shape()));
}
Expr GradientRules::gate_all(Expr factor) { return gate(factor, spread_all(untaken_all(), factor.shape())); }

void GradientRules::product_rule(const Node& node) {
  switch (node.op) {
    case Op::MatMul: return matmul_rule(node);
    case Op::Outer: return outer_rule(node);
    case Op::Linear: return linear_rule(node);
    case Op::AccumulateOuter: return accumulate_outer_rule(node);
    default: check_internal(false, "GradientRules", "no rule for an operation");
  }
}

void GradientRules::matmul_rule(const Node& node) {
  const Expr a = value(node.operands[0]);
  const Expr b = value(node.operands[1]);
  const bool a_is_vector = a.shape().rank() == 1;
  const bool b_is_vector = b.shape().rank() == 1;
  const Expr g = g_.value;
  if (is_wanted(node, 0)) {
    Expr gradient;
    if (b_is_vector) {
      gradient = outer(g, gate_all(b));
    } else {
      gradient = a_is_vector ? matmul(gate_columns(b), g) : matmul(g, transposed(gate_columns(b)));
    }
    const Expr untaken = a_is_vector ? spread_all(untaken_all(), a.shape()) : spread_rows(untaken_rows(), a.shape());
    contribute(node.operands[0], gradient, untaken, node.domain);
  }
  if (is_wanted(node, 1)) {
    Expr gradient;
    if (a_is_vector) {
      gradient = outer(gate_all(a), g);
    } else {
      gradient = b_is_vector ? matmul(g, gate_rows(a)) : matmul(transposed(gate_rows(a)), g);
    }
    const Expr untaken =
        b_is_vector ? spread_all(untaken_all(), b.shape()) : spread_columns(untaken_columns(), b.shape());
    contribute(node.operands[1], gradient, untaken, node.domain);
  }
}

void GradientRules::outer_rule(const Node& node) {
  const Expr a = value(node.operands[0]);
  const Expr b = value(node.operands[1]);
  if (is_wanted(node, 0)) {
    contribute(node.operands[0], matmul(g_.value, gate_columns(b)), untaken_rows(), node.domain);
  }
  if (is_wanted(node, 1)) {
    contribute(node.operands[1], matmul(gate_rows(a), g_.value), untaken_columns(), node.domain);
  }
}

void GradientRules::linear_rule(const Node& node) {
  const Expr x = value(node.operands[0]);
  const Expr w = value(node.operands[1]);
  const bool vector = x.shape().rank() == 1;
  if (is_wanted(node, 0)) {
    const Expr untaken = vector ? spread_all(untaken_all(), x.shape()) : spread_rows(untaken_rows(), x.shape());
    contribute(node.operands[0], linear(g_.value, w, !node.flag), untaken, node.domain);
  }
  if (!is_wanted(node, 1)) return;
  const Expr factor = vector ? gate_all(x) : gate_rows(x);
  const Expr left = node.flag ? factor : g_.value;
  const Expr right = node.flag ? g_.value : factor;
  if (node.domain == Domain::Once) {
    contribute(node.operands[1], vector ? outer(left, right) : matmul(transposed(left), right), {}, Domain::Once);
  } else {
    adjoints_.add(node.operands[1], {accumulate_outer(left, right, node.domain), {}, g_.conditional()});
  }
}

void GradientRules::accumulate_outer_rule(const Node& node) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!is_wanted(node, i)) continue;
    const Expr other = gate_all(value(node.operands[1 - i]));
    contribute(node.operands[i], linear(other, g_.value, i == 1), {}, summed_from(node));
  }
}

}  // namespace cellfuse
