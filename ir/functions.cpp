#include "ir/functions.h"

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

/// A vector per element of `axis`, shaped to combine with `x`.
Expr along(Expr vector, const Shape& shape, int axis) {
  if (vector.shape().rank() == 1 && shape.rank() == 2) return broadcast(vector, shape, {axis});
  return vector;
}

Operand one_minus(const Operand& p) { return p.expr ? Operand(1.0 - p) : Operand(1.0 - p.value); }

}  // namespace

Expr restore_axis(Expr reduced, const Shape& shape, int axis) {
  switch (shape.rank()) {
    case 1: return broadcast(reduced, shape, {});
    case 2: return axis == 0 ? broadcast(reduced, shape, {1}) : broadcast(reduced, shape, {0});
    default:
      check_internal(shape.rank() == 3, "restore_axis", "rank");
      if (axis == 0) return broadcast(reduced, shape, {1, 2});
      return axis == 1 ? broadcast(reduced, shape, {0, 2}) : broadcast(reduced, shape, {0, 1});
  }
}

Expr mean(Expr x, int axis) { return sum(x, axis) / static_cast<double>(x.shape()[axis].size); }

Expr softmax(Expr x, int axis) {
  // The shift does not change the result, so it takes no gradient.
  Expr shift = detach(reduce(Op::AMax, x, axis));
  Expr e = exp(x - restore_axis(shift, x.shape(), axis));
  return e / restore_axis(sum(e, axis), x.shape(), axis);
}

Expr argmax_onehot(Expr x, int axis) {
  Expr fixed = detach(x);
  Expr largest = restore_axis(reduce(Op::AMax, fixed, axis), x.shape(), axis);
  Expr index = iota(*x.graph, x.shape(), axis);
  Expr candidate = where(eq(fixed, largest), index, static_cast<double>(x.shape()[axis].size));
  Expr first = restore_axis(reduce(Op::AMin, candidate, axis), x.shape(), axis);
  return eq(index, first);
}

Expr norm2(Expr x, int axis) {
  Expr squares = sum(square(x), axis);
  return where(gt(squares, 0.0), sqrt(squares), detach(squares));
}

Expr layer_norm(Expr x, std::optional<Expr> gain, std::optional<Expr> bias, double eps, int axis) {
  Expr centred = x - restore_axis(mean(x, axis), x.shape(), axis);
  Expr variance = mean(square(centred), axis);
  Expr scale = apply(Op::Rsqrt, {variance + eps});
  Expr y = centred * restore_axis(scale, x.shape(), axis);
  if (gain) y = y * along(*gain, x.shape(), axis);
  if (bias) y = y + along(*bias, x.shape(), axis);
  return y;
}

Expr rms_norm(Expr x, std::optional<Expr> gain, double eps, int axis) {
  Expr scale = apply(Op::Rsqrt, {mean(square(x), axis) + eps});
  Expr y = x * restore_axis(scale, x.shape(), axis);
  return gain ? y * along(*gain, x.shape(), axis) : y;
}

Expr repeat(Expr x, const Extent& n) {
  const Shape& shape = x.shape();
  int last = shape.rank() - 1;
  check_internal(last >= 0 && last < Shape::kMaxRank - 1, "repeat", "rank");
  Shape wide = shape;
  wide.push_back(n);
  Expr spread = last == 0 ? broadcast(x, wide, {0}) : broadcast(x, wide, {0, 1});
  return reshape(spread, shape.with(last, shape[last] * n));
}

Expr tile(Expr x, const Extent& n) {
  const Shape& shape = x.shape();
  int last = shape.rank() - 1;
  check_internal(last >= 0 && last < Shape::kMaxRank - 1, "tile", "rank");
  const Extent& size = shape[last];
  Expr spread = last == 0 ? broadcast(x, {n, size}, {1}) : broadcast(x, {shape[0], n, size}, {0, 2});
  return reshape(spread, shape.with(last, size * n));
}

Expr eye(Graph& graph, const Extent& n) {
  Shape shape{n, n};
  return eq(iota(graph, shape, 0), iota(graph, shape, 1));
}

Expr dropout(Expr x, Operand p, bool shared, std::int32_t site) {
  bool per_sample = x.node().domain != Domain::Once;
  Expr u = random(*x.graph, site, x.shape(), shared, per_sample);
  Expr kept = where(ge(u, p), x / one_minus(p), 0.0);
  return where(leaf(*x.graph, Op::Training, 0, {}), kept, x);
}

Expr zoneout(Expr fresh, Expr old, Operand p, std::int32_t site) {
  Expr u = random(*fresh.graph, site, fresh.shape(), false, true);
  Expr drawn = where(lt(u, p), old, fresh);
  Expr expected = p * old + one_minus(p) * fresh;
  return where(leaf(*fresh.graph, Op::Training, 0, {}), drawn, expected);
}

}  // namespace cellfuse
