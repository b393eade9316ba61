#include "passes/gradient_rules.h"

#include <algorithm>

#include "ir/diagnostic.h"
#include "ir/functions.h"
#include "passes/rewrite.h"

namespace cellfuse {

namespace {

Expr transposed(Expr x) { return x.node().op == Op::Transpose ? Expr{x.graph, x.node().operands[0]} : transpose(x); }

/// Sums an adjoint over the axes that a broadcast made.
Expr sum_to(Expr g, const Shape& shape, const Node& broadcast_node) {
  const Shape wide = g.shape();
  for (int axis = wide.rank() - 1; axis >= 0; --axis) {
    bool kept = false;
    for (int i = 0; i < shape.rank(); ++i) {
      kept = kept || (broadcast_node.axes[static_cast<std::size_t>(i)] == axis && shape[i] == wide[axis]);
    }
    if (!kept) g = sum(g, axis);
  }
  return reshape(g, shape);
}

/// The same for NumPy's alignment of trailing axes.
Expr sum_to(Expr g, const Shape& shape) {
  const Shape wide = g.shape();
  const int lead = wide.rank() - shape.rank();
  for (int axis = wide.rank() - 1; axis >= 0; --axis) {
    if (axis < lead || !(shape[axis - lead] == wide[axis])) g = sum(g, axis);
  }
  return reshape(g, shape);
}

/// Largest absolute value along the axes [first, rank).
Expr largest(Expr g, int first) {
  Expr magnitude = abs(g);
  while (magnitude.shape().rank() > first) magnitude = reduce(Op::AMax, magnitude, magnitude.shape().rank() - 1);
  return magnitude;
}

/// x, but 0 where no element of g that touches it in the product differs from 0.
Expr gate_all(Expr x, Expr g) { return where(eq(largest(g, 0), 0.0), 0.0, x); }

/// The same for a matrix x whose row i, or a vector whose element i, meets row i (or element i) of g.
Expr gate_rows(Expr x, Expr g) {
  const Expr untouched = eq(largest(g, 1), 0.0);
  return where(x.shape().rank() == 2 ? restore_axis(untouched, x.shape(), 1) : untouched, 0.0, x);
}

/// The same for columns.
Expr gate_columns(Expr x, Expr g) {
  const Expr untouched = eq(g.shape().rank() == 2 ? reduce(Op::AMax, abs(g), 0) : abs(g), 0.0);
  return where(x.shape().rank() == 2 ? restore_axis(untouched, x.shape(), 0) : untouched, 0.0, x);
}

/// The product of the other elements along the axis, with neither division nor special cases, so that it is right at
/// zeros and can be differentiated again.
Expr product_of_others(Expr x, int axis) {
  const Shape shape = x.shape();
  const std::int64_t size = shape[axis].size;
  const std::int64_t inner = shape.stride(axis);
  const std::int64_t outer_size = shape.count() / std::max<std::int64_t>(1, size * inner);
  // Brings the axis to the end: [outer, size, inner] -> [inner, outer, size].
  Expr rows = reshape(x, {Extent(outer_size * size), Extent(inner)});
  rows = reshape(inner > 1 ? transpose(rows) : rows, {Extent(inner * outer_size), Extent(size)});
  const Shape cube{Extent(inner * outer_size), Extent(size), Extent(size)};
  const Expr self = eq(iota(*x.graph, cube, 1), iota(*x.graph, cube, 2));
  Expr others = reduce(Op::Prod, where(self, 1.0, broadcast(rows, cube, {0, 2})), 2);
  others = reshape(others, {Extent(inner), Extent(outer_size * size)});
  return reshape(inner > 1 ? transpose(others) : others, shape);
}

}  // namespace

void GradientRules::contribute(NodeId operand, Expr value, bool tainted, Domain from) {
  if (!wanted_[operand]) return;
  const Domain domain = primal_[operand].domain;
  if (domain < from) value = accumulate(value, domain, from);
  adjoints_.add(operand, {value, tainted});
}

bool GradientRules::must_gate(const Node& node, std::size_t operand, const Adjoint& g) const {
  return g.tainted && primal_[node.operands[operand]].domain != Domain::Once;
}

void GradientRules::propagate(NodeId id, const Adjoint& g) {
  const Node& node = primal_[id];
  if (is_elementwise(node.op)) return elementwise_rule(node, value(id), g);
  if (is_view(node.op)) return view_rule(node, g);
  if (is_reduction(node.op)) return reduction_rule(node, value(id), g);
  switch (node.op) {
    case Op::CumSum:
      return contribute(node.operands[0], cumsum(g.value, node.axis, !node.flag), g.tainted, node.domain);
    case Op::MatMul: return matmul_rule(node, g);
    case Op::Outer: return outer_rule(node, g);
    case Op::WithGrad: return with_grad_rule(node, g);
    case Op::Accumulate: return contribute(node.operands[0], g.value, g.tainted, summed_from(node));
    case Op::AccumulateOuter: return accumulate_outer_rule(node, g);
    case Op::Linear: return linear_rule(node, g);
    default: check_internal(is_leaf(node.op), "GradientRules", "no rule for an operation");
  }
}

void GradientRules::elementwise_rule(const Node& node, Expr y, const Adjoint& g) {
  const ElementwiseInfo& info = elementwise(node.op);
  check_internal(info.derivatives != nullptr, "GradientRules", "an operation without derivatives was not expanded");
  Expr operands[3];
  for (std::size_t i = 0; i < node.operands.size(); ++i) operands[i] = value(node.operands[i]);
  const std::vector<Expr> gradients = info.derivatives(g.value, operands[0], operands[1], operands[2], y);
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (!gradients[i] || !is_wanted(node, i)) continue;
    const bool protect = g.tainted && info.zero_times_anything;
    const Expr gradient = protect ? where(eq(g.value, 0.0), 0.0, gradients[i]) : gradients[i];
    contribute(node.operands[i], gradient, g.tainted || node.op == Op::Where, node.domain);
  }
}

void GradientRules::view_rule(const Node& node, const Adjoint& g) {
  if (node.op == Op::Concat) return concat_rule(node, g);
  const NodeId operand = node.operands[0];
  const Shape& shape = primal_[operand].shape;
  switch (node.op) {
    case Op::Slice:
      if (wanted_[operand]) adjoints_.add_slice(operand, node.axis, node.begin, g);
      return;
    case Op::Reshape: return contribute(operand, reshape(g.value, shape), g.tainted, node.domain);
    case Op::Transpose: return contribute(operand, transposed(g.value), g.tainted, node.domain);
    default: return contribute(operand, sum_to(g.value, shape, node), g.tainted, node.domain);
  }
}

void GradientRules::concat_rule(const Node& node, const Adjoint& g) {
  std::int64_t begin = 0;
  for (NodeId operand : node.operands) {
    const Extent& extent = primal_[operand].shape[node.axis];
    if (wanted_[operand]) contribute(operand, slice(g.value, node.axis, begin, extent), g.tainted, node.domain);
    begin += extent.size;
  }
}

void GradientRules::reduction_rule(const Node& node, Expr y, const Adjoint& g) {
  const NodeId operand = node.operands[0];
  const Expr x = value(operand);
  const Expr spread = restore_axis(g.value, x.shape(), node.axis);
  Expr result = spread;
  if (node.op == Op::Prod) {
    result = spread * product_of_others(x, node.axis);
    if (g.tainted) result = where(eq(spread, 0.0), 0.0, result);
  } else if (node.op != Op::Sum) {
    const Expr chosen = eq(x, restore_axis(y, x.shape(), node.axis));
    const Expr share = g.value / max(sum(chosen, node.axis), 1.0);
    result = where(chosen, restore_axis(share, x.shape(), node.axis), 0.0);
  }
  contribute(operand, result, g.tainted, node.domain);
}

void GradientRules::matmul_rule(const Node& node, const Adjoint& g) {
  const Expr a = value(node.operands[0]);
  const Expr b = value(node.operands[1]);
  const bool a_is_vector = a.shape().rank() == 1;
  const bool b_is_vector = b.shape().rank() == 1;
  if (is_wanted(node, 0)) {
    Expr factor = b;
    if (must_gate(node, 1, g)) factor = b_is_vector ? gate_all(b, g.value) : gate_columns(b, g.value);
    Expr gradient;
    if (b_is_vector) {
      gradient = outer(g.value, factor);
    } else {
      gradient = a_is_vector ? matmul(factor, g.value) : matmul(g.value, transposed(factor));
    }
    contribute(node.operands[0], gradient, g.tainted, node.domain);
  }
  if (is_wanted(node, 1)) {
    Expr factor = a;
    if (must_gate(node, 0, g)) factor = a_is_vector ? gate_all(a, g.value) : gate_rows(a, g.value);
    Expr gradient;
    if (a_is_vector) {
      gradient = outer(factor, g.value);
    } else {
      gradient = b_is_vector ? matmul(g.value, factor) : matmul(transposed(factor), g.value);
    }
    contribute(node.operands[1], gradient, g.tainted, node.domain);
  }
}

void GradientRules::outer_rule(const Node& node, const Adjoint& g) {
  const Expr a = value(node.operands[0]);
  const Expr b = value(node.operands[1]);
  if (is_wanted(node, 0)) {
    const Expr factor = must_gate(node, 1, g) ? gate_columns(b, g.value) : b;
    contribute(node.operands[0], matmul(g.value, factor), g.tainted, node.domain);
  }
  if (is_wanted(node, 1)) {
    const Expr factor = must_gate(node, 0, g) ? gate_rows(a, g.value) : a;
    contribute(node.operands[1], matmul(factor, g.value), g.tainted, node.domain);
  }
}

void GradientRules::linear_rule(const Node& node, const Adjoint& g) {
  const Expr x = value(node.operands[0]);
  const Expr w = value(node.operands[1]);
  contribute(node.operands[0], linear(g.value, w, !node.flag), g.tainted, node.domain);
  if (!is_wanted(node, 1)) return;
  Expr factor = x;
  if (must_gate(node, 0, g)) factor = x.shape().rank() == 1 ? gate_all(x, g.value) : gate_rows(x, g.value);
  const Expr left = node.flag ? factor : g.value;
  const Expr right = node.flag ? g.value : factor;
  Expr gradient;
  if (node.domain != Domain::Once) {
    gradient = accumulate_outer(left, right, node.domain);
  } else {
    gradient = x.shape().rank() == 1 ? outer(left, right) : matmul(transposed(left), right);
  }
  adjoints_.add(node.operands[1], {gradient, g.tainted});
}

void GradientRules::accumulate_outer_rule(const Node& node, const Adjoint& g) {
  const Domain from = summed_from(node);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!is_wanted(node, i)) continue;
    const Expr other = value(node.operands[1 - i]);
    const Expr factor = must_gate(node, 1 - i, g) ? gate_all(other, g.value) : other;
    contribute(node.operands[i], linear(factor, g.value, i == 1), g.tainted, from);
  }
}

Expr GradientRules::substitute_placeholder(NodeId gradient, std::int32_t index, Expr g) {
  std::vector<bool> depends(primal_.size(), false);
  for (NodeId id = 0; id <= gradient; ++id) {
    const Node& node = primal_[id];
    depends[id] = node.op == Op::Placeholder && node.index == index;
    for (NodeId operand : node.operands) depends[id] = depends[id] || depends[operand];
  }
  auto substitute = [&](Graph&, const Node& node, NodeId id) {
    if (node.op == Op::Placeholder && node.index == index) return g.id;
    return depends[id] ? kNoNode : map_[id];
  };
  return {&target_, rebuild(primal_, {gradient}, target_, substitute)[gradient]};
}

void GradientRules::with_grad_rule(const Node& node, const Adjoint& g) {
  const std::size_t count = node.operands.size() / 2;
  for (std::size_t i = 1; i <= count; ++i) {
    if (!is_wanted(node, i)) continue;
    const Shape& shape = primal_[node.operands[i]].shape;
    Expr gradient = substitute_placeholder(node.operands[count + i], node.index, g.value);
    Shape joined;
    if (!broadcast_shapes(gradient.shape(), shape, joined)) {
      throw CompileError("the gradient of argument " + std::to_string(i) + " has shape " + gradient.shape().str() +
                         ", which does not fit the argument's " + shape.str());
    }
    gradient = sum_to(broadcast_to(gradient, joined), shape);
    if (g.tainted) {
      const Expr untouched = g.value.shape() == shape ? eq(g.value, 0.0) : eq(largest(g.value, 0), 0.0);
      gradient = where(untouched, 0.0, gradient);
    }
    contribute(node.operands[i], gradient, g.tainted, node.domain);
  }
}

}  // namespace cellfuse
