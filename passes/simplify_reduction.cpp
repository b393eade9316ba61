#include <cmath>

#include "passes/simplify_rules.h"

namespace cellfuse {

namespace {

/// Sum, product, largest and smallest of n equal numbers.
std::optional<double> of_equal(Op op, double value, double n) {
  switch (op) {
    case Op::Sum: return value * n;
    case Op::Prod: return std::pow(value, n);
    default: return value;
  }
}

/// Along an axis that a value was spread over, the elements are equal; along others, the reduction goes before the
/// spreading.
Expr of_broadcast(Simplifier& simplify, Expr e) {
  Expr x = operand(e, 0);
  Expr source = operand(x, 0);
  const int axis = e.node().axis;
  const Op op = e.node().op;
  const double n = static_cast<double>(x.shape()[axis].size);
  std::vector<int> axes;
  int inner = -1;
  for (int i = 0; i < source.shape().rank(); ++i) {
    int to = x.node().axes[static_cast<std::size_t>(i)];
    if (to == axis) {
      inner = i;
    } else {
      axes.push_back(to > axis ? to - 1 : to);
    }
  }
  const Shape shape = e.shape();
  if (inner >= 0 && source.shape()[inner].size == x.shape()[axis].size) {
    return broadcast(simplify(reduce(op, source, inner)), shape, axes);
  }
  if (inner >= 0 || op == Op::Prod) return {};
  Expr spread = simplify(broadcast(source, shape, axes));
  return op == Op::Sum ? spread * n : spread;
}

/// Parts that are zero add nothing.
Expr sum_of_padded(Simplifier& simplify, Expr e) {
  Expr x = operand(e, 0);
  if (x.node().axis != e.node().axis) return {};
  Expr only;
  for (std::size_t i = 0; i < x.node().operands.size(); ++i) {
    if (is_constant(operand(x, i), 0)) continue;
    if (only) return {};
    only = operand(x, i);
  }
  return only ? simplify(sum(only, e.node().axis)) : Expr{};
}

Expr simplify_along_axis(Simplifier& simplify, Expr e) {
  Expr x = operand(e, 0);
  const int axis = e.node().axis;
  const Op op = e.node().op;
  if (x.shape()[axis].size == 1) return simplify(reshape(x, e.shape()));
  switch (x.node().op) {
    case Op::Constant:
      return constant(*e.graph, *of_equal(op, x.node().value, static_cast<double>(x.shape()[axis].size)), e.shape());
    case Op::Broadcast: return of_broadcast(simplify, e);
    case Op::Transpose: return reduce(op, operand(x, 0), 1 - axis);
    case Op::Neg: return op == Op::Sum ? -simplify(sum(operand(x, 0), axis)) : Expr{};
    case Op::Concat: return op == Op::Sum ? sum_of_padded(simplify, e) : Expr{};
    default: return {};
  }
}

Expr simplify_cumsum(Simplifier& simplify, Expr e) {
  Expr x = operand(e, 0);
  const int axis = e.node().axis;
  if (x.shape()[axis].size == 1 || is_constant(x, 0)) return x;
  if (is(x, Op::Transpose)) return transpose(simplify(cumsum(operand(x, 0), 1 - axis, e.node().flag)));
  return {};
}

/// Views are taken after the sum over steps and samples.
Expr simplify_accumulate(Simplifier& simplify, Expr e) {
  Expr x = operand(e, 0);
  const Domain domain = e.node().domain;
  const Domain from = summed_from(e.node());
  if (is_constant(x, 0)) return x;
  switch (x.node().op) {
    case Op::Accumulate:
      if (from != Domain::Sample || x.node().domain != from) return {};
      return accumulate(operand(x, 0), domain, summed_from(x.node()));
    case Op::Broadcast:
    case Op::Reshape:
    case Op::Transpose:
    case Op::Neg: break;
    default: return {};
  }
  Node node = x.node();
  node.operands = {simplify(accumulate(operand(x, 0), domain, from)).id};
  return {e.graph, e.graph->add(std::move(node))};
}

}  // namespace

Expr simplify_reduction(Simplifier& simplify, Expr e) {
  switch (e.node().op) {
    case Op::Sum:
    case Op::Prod:
    case Op::AMax:
    case Op::AMin: return simplify_along_axis(simplify, e);
    case Op::CumSum: return simplify_cumsum(simplify, e);
    case Op::Accumulate: return simplify_accumulate(simplify, e);
    default: return {};
  }
}

}  // namespace cellfuse
