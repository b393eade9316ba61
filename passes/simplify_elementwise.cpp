#include "passes/simplify_rules.h"

namespace cellfuse {

namespace {

/// All operands are numbers: the result is one.
Expr fold(Expr e) {
  double values[3] = {0, 0, 0};
  for (std::size_t i = 0; i < e.node().operands.size(); ++i) {
    if (!is(operand(e, i), Op::Constant)) return {};
    values[i] = operand(e, i).node().value;
  }
  double value = elementwise(e.node().op).evaluate(values[0], values[1], values[2]);
  return constant(*e.graph, value, e.shape());
}

/// Axes of the result along which no operand varies are left to one broadcast of a smaller result.
Expr raise_broadcast(Simplifier& simplify, Expr e) {
  const Shape shape = e.shape();
  const std::size_t count = e.node().operands.size();
  bool varies[Shape::kMaxRank] = {};
  for (std::size_t i = 0; i < count; ++i) {
    Expr x = operand(e, i);
    if (is(x, Op::Constant)) continue;
    if (!is(x, Op::Broadcast)) return {};
    Expr source = operand(x, 0);
    for (int axis = 0; axis < source.shape().rank(); ++axis) {
      if (source.shape()[axis].size > 1) varies[x.node().axes[static_cast<std::size_t>(axis)]] = true;
    }
  }
  Shape small;
  std::vector<int> axes;
  int place[Shape::kMaxRank] = {};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    place[axis] = small.rank();
    if (!varies[axis]) continue;
    small.push_back(shape[axis]);
    axes.push_back(axis);
  }
  if (small.rank() == shape.rank()) return {};
  std::vector<Expr> operands;
  for (std::size_t i = 0; i < count; ++i) {
    Expr x = operand(e, i);
    if (is(x, Op::Constant)) {
      operands.push_back(constant(*e.graph, x.node().value, small));
      continue;
    }
    Expr source = operand(x, 0);
    Shape squeezed;
    std::vector<int> to;
    for (int axis = 0; axis < source.shape().rank(); ++axis) {
      if (source.shape()[axis].size == 1) continue;
      squeezed.push_back(source.shape()[axis]);
      to.push_back(place[x.node().axes[static_cast<std::size_t>(axis)]]);
    }
    operands.push_back(simplify(broadcast(simplify(reshape(source, squeezed)), small, to)));
  }
  return broadcast(simplify(cellfuse::apply(e.node().op, operands)), shape, axes);
}

/// op(transpose(a), transpose(b)) is transpose(op(a, b)); numbers and broadcasts may stand in for a transpose. A
/// negation stays outside, where a sum can take it up.
Expr raise_transpose(Simplifier& simplify, Expr e) {
  if (is(e, Op::Neg)) return {};
  bool some = false;
  std::vector<Expr> operands;
  for (std::size_t i = 0; i < e.node().operands.size(); ++i) {
    Expr x = operand(e, i);
    if (x.shape().rank() != 2) return {};
    some = some || is(x, Op::Transpose);
    if (!is(x, Op::Transpose) && !is(x, Op::Constant) && !is(x, Op::Broadcast)) return {};
  }
  if (!some) return {};
  for (std::size_t i = 0; i < e.node().operands.size(); ++i) operands.push_back(simplify(transpose(operand(e, i))));
  return transpose(simplify(cellfuse::apply(e.node().op, operands)));
}

/// op(reshape(a), reshape(b)) is reshape(op(a, b)) where a and b have the same shape; numbers may stand in.
Expr raise_reshape(Simplifier& simplify, Expr e) {
  Expr first;
  for (std::size_t i = 0; i < e.node().operands.size(); ++i) {
    Expr x = operand(e, i);
    if (is(x, Op::Constant)) continue;
    if (!is(x, Op::Reshape) || (first && !(operand(x, 0).shape() == first.shape()))) return {};
    first = operand(x, 0);
  }
  const Shape shape = e.shape();
  const Shape inner = first.shape();
  std::vector<Expr> operands;
  for (std::size_t i = 0; i < e.node().operands.size(); ++i) {
    Expr x = operand(e, i);
    operands.push_back(is(x, Op::Constant) ? constant(*e.graph, x.node().value, inner) : operand(x, 0));
  }
  return reshape(simplify(cellfuse::apply(e.node().op, operands)), shape);
}

}  // namespace

Expr simplify_elementwise(Simplifier& simplify, Expr e) {
  if (!is_elementwise(e.node().op)) return {};
  if (Expr folded = fold(e)) return folded;
  if (!distributes(e.node().op)) return {};
  if (Expr raised = raise_broadcast(simplify, e)) return raised;
  if (Expr raised = raise_reshape(simplify, e)) return raised;
  return raise_transpose(simplify, e);
}

}  // namespace cellfuse
