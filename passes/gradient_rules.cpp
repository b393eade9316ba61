#include "passes/gradient_rules.h"

#include <algorithm>
#include <map>

#include "ir/diagnostic.h"
#include "ir/functions.h"

namespace cellfuse {

namespace {

/// Reduces to `shape` what a broadcast by NumPy's rule spread from it.
Expr sum_to(Expr g, const Shape& shape) {
  const Shape wide = g.shape();
  const int lead = wide.rank() - shape.rank();
  for (int axis = wide.rank() - 1; axis >= 0; --axis) {
    if (axis < lead || !(shape[axis - lead] == wide[axis])) g = sum(g, axis);
  }
  return reshape(g, shape);
}

/// The product of the other elements along the axis, with neither division nor special cases, so that it is right at
/// zeros and can be differentiated again.
Expr product_of_others(Expr x, int axis) {
  const Shape& shape = x.shape();
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

GradientRules::GradientRules(const Graph& primal, Graph& target, const std::vector<NodeId>& map,
                             const std::vector<bool>& wanted, Adjoints& adjoints)
    : primal_(primal),
      target_(target),
      map_(map),
      wanted_(wanted),
      adjoints_(adjoints),
      open_(open_placeholders(primal)) {
  for (NodeId id = 0; id < primal.size(); ++id) {
    if (primal[id].op == Op::WithGrad) next_placeholder_ = std::max(next_placeholder_, primal[id].index + 1);
  }
}

void GradientRules::contribute(NodeId operand, Expr value, Expr untaken, Domain from) {
  if (!wanted_[operand]) return;
  Adjoint contribution{value, g_.conditional() ? untaken : Expr{}, g_.summed};
  const Domain domain = primal_[operand].domain;
  if (domain < from) {
    contribution.value = accumulate(value, domain, from);
    contribution.summed = contribution.conditional();
  }
  if (contribution.summed) contribution.untaken = {};
  adjoints_.add(operand, contribution);
}

Expr GradientRules::zero_where(Expr untaken, Expr value) {
  const Expr gated = where(untaken, 0.0, value);
  if (!g_.summed) return gated;
  // The condition is known only after the last step, so a second derivative that took it into account could not be
  // computed in one loop: it passes as if all were taken, which differs only where `value` is NaN or infinite.
  const std::int32_t index = next_placeholder_++;
  return with_grad(gated, {value}, {leaf(target_, Op::Placeholder, index, value.shape())}, index);
}

void GradientRules::propagate(NodeId id, const Adjoint& g) {
  g_ = g;
  if (g.summed) g_.untaken = eq(g.value, 0.0);
  const Node& node = primal_[id];
  if (is_elementwise(node.op)) return elementwise_rule(node, value(id));
  if (is_view(node.op)) return view_rule(node);
  if (is_reduction(node.op)) return reduction_rule(node, value(id));
  switch (node.op) {
    case Op::CumSum: return cumsum_rule(node);
    case Op::WithGrad: return with_grad_rule(node);
    case Op::Accumulate: return contribute(node.operands[0], g_.value, g_.untaken, summed_from(node));
    default: return product_rule(node);
  }
}

void GradientRules::elementwise_rule(const Node& node, Expr y) {
  const ElementwiseInfo& info = elementwise(node.op);
  if (info.derivatives == nullptr) throw InternalError("GradientRules", "a composite operation was not expanded");
  Expr operands[3];
  for (std::size_t i = 0; i < node.operands.size(); ++i) operands[i] = value(node.operands[i]);
  const std::vector<Expr> gradients = info.derivatives(g_.value, operands[0], operands[1], operands[2], y);
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (!gradients[i] || !is_wanted(node, i)) continue;
    if (node.op == Op::Where && !g_.summed) {
      const Expr other = i == 1 ? eq(operands[0], 0.0) : ne(operands[0], 0.0);
      const Adjoint outer = g_;
      g_.untaken = outer.untaken ? cellfuse::apply(Op::Or, {outer.untaken, other}) : other;
      contribute(node.operands[i], gradients[i], g_.untaken, node.domain);
      g_ = outer;
      continue;
    }
    const bool protect = g_.conditional() && info.zero_times_anything;
    contribute(node.operands[i], protect ? zero_where(g_.untaken, gradients[i]) : gradients[i], g_.untaken,
               node.domain);
  }
}

void GradientRules::view_rule(const Node& node) {
  const NodeId operand = node.operands[0];
  const Shape& shape = primal_[operand].shape;
  auto both = [&](auto view) {
    contribute(operand, view(g_.value), g_.untaken ? view(g_.untaken) : Expr{}, node.domain);
  };
  switch (node.op) {
    case Op::Concat: return concat_rule(node);
    case Op::Broadcast: return broadcast_rule(node);
    case Op::Reshape: return both([&](Expr x) { return reshape(x, shape); });
    case Op::Transpose:
      return both(
          [](Expr x) { return x.node().op == Op::Transpose ? Expr{x.graph, x.node().operands[0]} : transpose(x); });
    default: {
      Adjoint part = g_;
      if (part.summed) part.untaken = {};
      if (wanted_[operand]) adjoints_.add_slice(operand, node.axis, node.begin, part);
    }
  }
}

void GradientRules::concat_rule(const Node& node) {
  std::int64_t begin = 0;
  for (NodeId operand : node.operands) {
    const Extent& extent = primal_[operand].shape[node.axis];
    if (wanted_[operand]) {
      const Expr untaken = g_.untaken ? slice(g_.untaken, node.axis, begin, extent) : Expr{};
      contribute(operand, slice(g_.value, node.axis, begin, extent), untaken, node.domain);
    }
    begin += extent.size;
  }
}

void GradientRules::broadcast_rule(const Node& node) {
  const NodeId operand = node.operands[0];
  const Shape& shape = primal_[operand].shape;
  Expr total = g_.value;
  Expr untaken = g_.untaken;
  for (int axis = node.shape.rank() - 1; axis >= 0; --axis) {
    bool kept = false;
    for (int i = 0; i < shape.rank(); ++i) {
      kept = kept || (node.axes[static_cast<std::size_t>(i)] == axis && shape[i] == node.shape[axis]);
    }
    if (kept) continue;
    total = sum(total, axis);
    if (untaken) untaken = reduce(Op::AMin, untaken, axis);
  }
  contribute(operand, reshape(total, shape), untaken ? reshape(untaken, shape) : untaken, node.domain);
}

void GradientRules::reduction_rule(const Node& node, Expr y) {
  const NodeId operand = node.operands[0];
  const Expr x = value(operand);
  const Expr spread = restore_axis(g_.value, x.shape(), node.axis);
  const Expr untaken = g_.untaken ? restore_axis(g_.untaken, x.shape(), node.axis) : Expr{};
  Expr result = spread;
  if (node.op == Op::Prod) {
    result = spread * product_of_others(x, node.axis);
    if (untaken) result = zero_where(untaken, result);
  } else if (node.op != Op::Sum) {
    const Expr chosen = eq(x, restore_axis(y, x.shape(), node.axis));
    const Expr share = g_.value / max(sum(chosen, node.axis), 1.0);
    result = where(chosen, restore_axis(share, x.shape(), node.axis), 0.0);
  }
  contribute(operand, result, untaken, node.domain);
}

void GradientRules::cumsum_rule(const Node& node) {
  auto back = [&](Expr x) { return cumsum(x, node.axis, !node.flag); };
  const Expr untaken = g_.untaken ? eq(back(eq(g_.untaken, 0.0)), 0.0) : Expr{};
  contribute(node.operands[0], back(g_.value), untaken, node.domain);
}

bool GradientRules::reads(NodeId id, std::int32_t placeholder) const {
  return std::ranges::binary_search(open_[id], placeholder);
}

Expr GradientRules::substitute(NodeId gradient, std::int32_t placeholder) {
  if (!reads(gradient, placeholder)) return value(gradient);
  std::vector<NodeId> to_visit{gradient};
  std::map<NodeId, NodeId> replaced;  // in the order of the graph: operands first
  while (!to_visit.empty()) {
    const NodeId id = to_visit.back();
    to_visit.pop_back();
    if (!replaced.emplace(id, kNoNode).second) continue;
    for (NodeId operand : primal_[id].operands) {
      if (reads(operand, placeholder)) to_visit.push_back(operand);
    }
  }
  for (auto& [id, result] : replaced) {
    Node node = primal_[id];
    for (NodeId& operand : node.operands) operand = reads(operand, placeholder) ? replaced.at(operand) : map_[operand];
    result = node.op == Op::Placeholder ? g_.value.id : target_.add(std::move(node));
    check_internal(target_[result].shape == primal_[id].shape, "GradientRules",
                   "an incoming gradient has another shape");
    if (!primal_.name(id).empty()) target_.set_name(result, primal_.name(id));
  }
  return {&target_, replaced.at(gradient)};
}

void GradientRules::with_grad_rule(const Node& node) {
  const std::size_t count = node.operands.size() / 2;
  for (std::size_t i = 1; i <= count; ++i) {
    if (!is_wanted(node, i)) continue;
    const Shape& shape = primal_[node.operands[i]].shape;
    Expr gradient = substitute(node.operands[count + i], node.index);
    Shape joined;
    if (!broadcast_shapes(gradient.shape(), shape, joined)) {
      throw CompileError("the gradient of argument " + std::to_string(i) + " has shape " + gradient.shape().str() +
                         ", which does not fit the argument's " + shape.str());
    }
    gradient = sum_to(broadcast_to(gradient, joined), shape);
    Expr untaken = g_.untaken;
    if (untaken && !(untaken.shape() == shape)) untaken = broadcast_to(untaken_all(), shape);
    contribute(node.operands[i], untaken ? zero_where(untaken, gradient) : gradient, untaken, node.domain);
  }
}

}  // namespace cellfuse
