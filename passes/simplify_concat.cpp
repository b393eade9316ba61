#include <set>

#include "passes/simplify_rules.h"

namespace cellfuse {

namespace {

/// Two neighbours as one value, if they are: parts of one value side by side, or the same number.
Expr join(Simplifier& simplify, Expr a, Expr b, int axis) {
  Extent extent = a.shape()[axis] + b.shape()[axis];
  if (is(a, Op::Constant) && is(b, Op::Constant) && a.node().value == b.node().value) {
    return constant(*a.graph, a.node().value, a.shape().with(axis, extent));
  }
  if (!is(a, Op::Slice) || !is(b, Op::Slice)) return {};
  bool adjacent = operand(a, 0).id == operand(b, 0).id && a.node().axis == axis && b.node().axis == axis &&
                  a.node().end == b.node().begin;
  if (!adjacent) return {};
  return simplify(slice(operand(a, 0), axis, a.node().begin, extent));
}

std::vector<Expr> flattened(Expr e) {
  const int axis = e.node().axis;
  std::vector<Expr> parts;
  for (std::size_t i = 0; i < e.node().operands.size(); ++i) {
    Expr part = operand(e, i);
    if (part.shape()[axis].size == 0) continue;
    if (is(part, Op::Concat) && part.node().axis == axis) {
      for (NodeId id : part.node().operands) parts.push_back({e.graph, id});
    } else {
      parts.push_back(part);
    }
  }
  return parts;
}

Expr merge_parts(Simplifier& simplify, Expr e) {
  const int axis = e.node().axis;
  std::vector<Expr> parts;
  for (Expr part : flattened(e)) {
    Expr joined = parts.empty() ? Expr{} : join(simplify, parts.back(), part, axis);
    if (joined) {
      parts.back() = joined;
    } else {
      parts.push_back(part);
    }
  }
  if (parts.empty()) return {};
  Expr merged = concat(parts, axis);
  return merged.id == e.id ? Expr{} : merged;
}

/// Where the parts of a concatenation begin, and its end.
std::set<std::int64_t> borders(Expr e) {
  std::set<std::int64_t> result{0};
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < e.node().operands.size(); ++i) {
    offset += operand(e, i).shape()[e.node().axis].size;
    result.insert(offset);
  }
  return result;
}

/// concat(a, 0) + concat(0, b) is concat(a, b): no part is added to anything but zero, or all parts are aligned.
Expr add_parts(Simplifier& simplify, Expr e) {
  Expr a = operand(e, 0);
  Expr b = operand(e, 1);
  if (!is(a, Op::Concat) || !is(b, Op::Concat) || a.node().axis != b.node().axis) return {};
  const int axis = a.node().axis;
  std::set<std::int64_t> cuts = borders(a);
  const bool aligned = cuts == borders(b);
  for (std::int64_t border : borders(b)) cuts.insert(border);
  std::vector<Expr> parts;
  for (auto it = cuts.begin(); std::next(it) != cuts.end(); ++it) {
    Extent extent(*std::next(it) - *it);
    Expr left = simplify(slice(a, axis, *it, extent));
    Expr right = simplify(slice(b, axis, *it, extent));
    if (!aligned && !is_constant(left, 0) && !is_constant(right, 0)) return {};
    parts.push_back(simplify(left + right));
  }
  return concat(parts, axis);
}

}  // namespace

Expr simplify_concat(Simplifier& simplify, Expr e) {
  if (is(e, Op::Concat)) return merge_parts(simplify, e);
  if (is(e, Op::Add)) return add_parts(simplify, e);
  return {};
}

}  // namespace cellfuse
