#include "passes/simplify_rules.h"

namespace cellfuse {

namespace {

struct Part {
  int axis;
  std::int64_t begin;
  std::int64_t end;
  Extent extent;  ///< with the user's expression
};

Expr cut(Simplifier& simplify, Expr x, const Part& part) {
  return simplify(slice(x, part.axis, part.begin, part.extent));
}

Expr of_slice(Simplifier& simplify, Expr x, Part part) {
  const Node node = x.node();
  if (node.axis == part.axis) {
    part.begin += node.begin;
    part.end += node.begin;
    return cut(simplify, operand(x, 0), part);
  }
  // The outer slice has the greater axis.
  if (node.axis < part.axis) return {};
  Part other{node.axis, node.begin, node.end, node.shape[node.axis]};
  return cut(simplify, cut(simplify, operand(x, 0), part), other);
}

Expr of_concat(Simplifier& simplify, Expr x, const Part& part) {
  const std::vector<NodeId> parts = x.node().operands;
  const int axis = x.node().axis;
  std::vector<Expr> pieces;
  std::int64_t offset = 0;
  for (NodeId id : parts) {
    Expr piece{x.graph, id};
    if (axis != part.axis) {
      pieces.push_back(cut(simplify, piece, part));
      continue;
    }
    std::int64_t size = piece.shape()[axis].size;
    std::int64_t begin = std::max<std::int64_t>(part.begin - offset, 0);
    std::int64_t end = std::min(part.end - offset, size);
    bool whole = begin == 0 && end == size;
    if (begin < end) pieces.push_back(whole ? piece : cut(simplify, piece, {axis, begin, end, Extent(end - begin)}));
    offset += size;
  }
  if (pieces.empty()) return {};
  return simplify(concat(pieces, axis));
}

Expr of_broadcast(Simplifier& simplify, Expr x, const Part& part) {
  Shape shape = x.shape().with(part.axis, part.extent);
  Expr source = operand(x, 0);
  std::vector<int> axes;
  for (int i = 0; i < source.shape().rank(); ++i) axes.push_back(x.node().axes[static_cast<std::size_t>(i)]);
  for (int i = 0; i < static_cast<int>(axes.size()); ++i) {
    if (axes[static_cast<std::size_t>(i)] != part.axis || source.shape()[i].size == 1) continue;
    source = cut(simplify, source, {i, part.begin, part.end, part.extent});
    break;
  }
  return simplify(broadcast(source, shape, axes));
}

/// The axis of `shape` at which elements [begin, end) of the row-major order are whole slices; -1 where there is none.
int axis_of_range(const Shape& shape, std::int64_t begin, std::int64_t end) {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    std::int64_t stride = shape.stride(axis);
    if (begin % stride == 0 && end % stride == 0) return axis;
    if (shape[axis].size != 1) return -1;
  }
  return -1;
}

/// The axis of `from` that a reshape which only adds and removes axes of size 1 turned into `axis` of `to`; or -1.
int axis_before(const Shape& from, const Shape& to, int axis) {
  int i = 0;
  int found = -1;
  for (int j = 0; j < to.rank(); ++j) {
    if (to[j].size == 1) continue;
    while (i < from.rank() && from[i].size == 1) ++i;
    if (i == from.rank() || !(from[i] == to[j])) return -1;
    if (j == axis) found = i;
    ++i;
  }
  return found;
}

Expr of_reshape(Simplifier& simplify, Expr x, const Part& part) {
  const Shape to = x.shape();
  const Shape result = to.with(part.axis, part.extent);
  Expr source = operand(x, 0);
  const Shape from = source.shape();
  if (int axis = axis_before(from, to, part.axis); axis >= 0) {
    return simplify(reshape(cut(simplify, source, {axis, part.begin, part.end, part.extent}), result));
  }
  for (int axis = 0; axis < part.axis; ++axis) {
    if (to[axis].size != 1) return {};
  }
  std::int64_t begin = part.begin * to.stride(part.axis);
  std::int64_t end = part.end * to.stride(part.axis);
  int axis = axis_of_range(from, begin, end);
  if (axis < 0) return {};
  begin /= from.stride(axis);
  end /= from.stride(axis);
  return simplify(reshape(cut(simplify, source, {axis, begin, end, Extent(end - begin)}), result));
}

/// Work on slices instead of a slice of work, where that does not repeat costly work.
Expr of_elementwise(Simplifier& simplify, Expr x, const Part& part) {
  bool cheap = cost(x.node().op) <= Cost::Cheap;
  if (!distributes(x.node().op) || (!cheap && !simplify.is_sliced(x.id))) return {};
  std::vector<Expr> operands;
  const std::size_t count = x.node().operands.size();
  for (std::size_t i = 0; i < count; ++i) operands.push_back(cut(simplify, operand(x, i), part));
  return simplify(cellfuse::apply(x.node().op, operands));
}

}  // namespace

Expr simplify_slice(Simplifier& simplify, Expr e) {
  if (!is(e, Op::Slice)) return {};
  Expr x = operand(e, 0);
  const Node& node = e.node();
  Part part{node.axis, node.begin, node.end, node.shape[node.axis]};
  switch (x.node().op) {
    case Op::Constant: return constant(*e.graph, x.node().value, e.shape());
    case Op::Iota: return iota(*e.graph, e.shape(), 0) + static_cast<double>(part.begin);
    case Op::Slice: return of_slice(simplify, x, part);
    case Op::Concat: return of_concat(simplify, x, part);
    case Op::Broadcast: return of_broadcast(simplify, x, part);
    case Op::Reshape: return of_reshape(simplify, x, part);
    case Op::Transpose:
      return simplify(transpose(cut(simplify, operand(x, 0), {1 - part.axis, part.begin, part.end, part.extent})));
    default: return is_elementwise(x.node().op) ? of_elementwise(simplify, x, part) : Expr{};
  }
}

}  // namespace cellfuse
