#include "passes/simplify_rules.h"

namespace cellfuse {

namespace {

/// The shape without axes of size 1.
Shape squeezed(const Shape& shape) {
  Shape result;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis].size != 1) result.push_back(shape[axis]);
  }
  return result;
}

std::vector<int> axes_of(Expr broadcast) {
  std::vector<int> axes;
  for (int i = 0; i < operand(broadcast, 0).shape().rank(); ++i) {
    axes.push_back(broadcast.node().axes[static_cast<std::size_t>(i)]);
  }
  return axes;
}

/// An index along one of several axes is a spread vector.
Expr simplify_iota(Simplifier& simplify, Expr e) {
  if (e.shape().rank() == 1) return {};
  const Shape shape = e.shape();
  const int axis = e.node().axis;
  return broadcast(simplify(iota(*e.graph, {shape[axis]}, 0)), shape, {axis});
}

/// A spread value takes no axis of size 1 along, and is no spread value itself.
Expr simplify_broadcast(Simplifier& simplify, Expr e) {
  Expr source = operand(e, 0);
  const Shape shape = e.shape();
  if (is(source, Op::Constant)) return constant(*e.graph, source.node().value, shape);
  std::vector<int> axes = axes_of(e);
  if (source.shape().count() == shape.count()) return simplify(reshape(source, shape));
  Shape narrow = squeezed(source.shape());
  if (narrow.rank() < source.shape().rank()) {
    std::vector<int> kept;
    for (int i = 0; i < source.shape().rank(); ++i) {
      if (source.shape()[i].size != 1) kept.push_back(axes[static_cast<std::size_t>(i)]);
    }
    return broadcast(simplify(reshape(source, narrow)), shape, kept);
  }
  if (!is(source, Op::Broadcast)) return {};
  std::vector<int> composed;
  for (int axis : axes_of(source)) composed.push_back(axes[static_cast<std::size_t>(axis)]);
  return broadcast(operand(source, 0), shape, composed);
}

/// A reshape that only adds and removes axes of size 1 of a spread value is a spread value.
Expr reshape_of_broadcast(Expr e) {
  Expr x = operand(e, 0);
  const Shape to = e.shape();
  if (!(squeezed(to) == squeezed(x.shape()))) return {};
  std::vector<int> place;
  for (int axis = 0; axis < to.rank(); ++axis) {
    if (to[axis].size != 1) place.push_back(axis);
  }
  std::vector<int> rank_of(static_cast<std::size_t>(x.shape().rank()), 0);
  for (int axis = 0, count = 0; axis < x.shape().rank(); ++axis) {
    rank_of[static_cast<std::size_t>(axis)] = count;
    if (x.shape()[axis].size != 1) ++count;
  }
  std::vector<int> axes;
  Expr source = operand(x, 0);
  for (int i = 0; i < source.shape().rank(); ++i) {
    if (source.shape()[i].size == 1) return {};
    axes.push_back(
        place[static_cast<std::size_t>(rank_of[static_cast<std::size_t>(axes_of(x)[static_cast<std::size_t>(i)])])]);
  }
  return broadcast(source, to, axes);
}

Expr simplify_reshape(Expr e) {
  Expr x = operand(e, 0);
  if (x.shape() == e.shape()) return x;
  switch (x.node().op) {
    case Op::Constant: return constant(*e.graph, x.node().value, e.shape());
    case Op::Reshape: return reshape(operand(x, 0), e.shape());
    case Op::Broadcast: return reshape_of_broadcast(e);
    default: return {};
  }
}

Expr simplify_transpose(Simplifier& simplify, Expr e) {
  Expr x = operand(e, 0);
  const Shape shape = e.shape();
  switch (x.node().op) {
    case Op::Constant: return constant(*e.graph, x.node().value, shape);
    case Op::Transpose: return operand(x, 0);
    case Op::Broadcast: {
      Expr source = operand(x, 0);
      if (source.shape().rank() == 2) return {};
      std::vector<int> axes;
      for (int axis : axes_of(x)) axes.push_back(1 - axis);
      return broadcast(source, shape, axes);
    }
    case Op::Neg: return -simplify(transpose(operand(x, 0)));
    case Op::Outer: return outer(operand(x, 1), operand(x, 0));
    case Op::AccumulateOuter:
      if (!simplify.is_transposed(x.id)) break;
      return accumulate_outer(operand(x, 1), operand(x, 0), summed_from(x.node()));
    default: break;
  }
  if (shape[0].size == 1 || shape[1].size == 1) return simplify(reshape(x, shape));
  return {};
}

}  // namespace

Expr simplify_view(Simplifier& simplify, Expr e) {
  switch (e.node().op) {
    case Op::Iota: return simplify_iota(simplify, e);
    case Op::Broadcast: return simplify_broadcast(simplify, e);
    case Op::Reshape: return simplify_reshape(e);
    case Op::Transpose: return simplify_transpose(simplify, e);
    default: return {};
  }
}

}  // namespace cellfuse
