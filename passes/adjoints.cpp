#include "passes/adjoints.h"

#include <algorithm>
#include <tuple>

namespace cellfuse {

namespace {

Adjoint plus(const Adjoint& a, const Adjoint& b) {
  if (!a) return b;
  if (!b) return a;
  Adjoint total{a.value + b.value, {}, false};
  if (!a.conditional() || !b.conditional()) return total;
  total.summed = a.summed || b.summed;
  if (!total.summed) total.untaken = cellfuse::apply(Op::And, {a.untaken, b.untaken});
  return total;
}

}  // namespace

void Adjoints::add_slice(NodeId node, int axis, std::int64_t begin, const Adjoint& contribution) {
  slices_[node].push_back({axis, begin, contribution});
}

std::vector<Adjoints::Piece> Adjoints::merge_equal_ranges(std::vector<Piece> pieces) {
  std::ranges::stable_sort(pieces, {}, [](const Piece& p) { return std::tuple(p.axis, p.begin, p.end()); });
  std::vector<Piece> merged;
  for (const Piece& piece : pieces) {
    Piece* last = merged.empty() ? nullptr : &merged.back();
    if (last != nullptr && last->axis == piece.axis && last->begin == piece.begin && last->end() == piece.end()) {
      last->adjoint = plus(last->adjoint, piece.adjoint);
    } else {
      merged.push_back(piece);
    }
  }
  return merged;
}

/// Pieces of one axis that do not overlap, in order, with zeros between them.
Adjoint Adjoints::assemble(const std::vector<Piece>& row, const Shape& shape) {
  const int axis = row.front().axis;
  Graph& graph = *row.front().adjoint.value.graph;
  Adjoint whole;
  std::vector<Expr> values;
  std::vector<Expr> untaken;
  bool conditional = false;
  std::int64_t at = 0;
  auto append = [&](Expr value, Expr condition) {
    values.push_back(value);
    untaken.push_back(condition ? condition : constant(graph, 0.0, value.shape()));
    at += value.shape()[axis].size;
  };
  auto fill_to = [&](std::int64_t end) {
    if (at == end) return;
    const Shape gap = shape.with(axis, end - at);
    append(constant(graph, 0.0, gap), constant(graph, 1.0, gap));
  };
  for (const Piece& piece : row) {
    fill_to(piece.begin);
    append(piece.adjoint.value, piece.adjoint.untaken);
    whole.summed = whole.summed || piece.adjoint.summed;
    conditional = conditional || piece.adjoint.conditional();
  }
  fill_to(shape[axis].size);
  whole.value = concat(values, axis);
  if (conditional && !whole.summed) whole.untaken = concat(untaken, axis);
  return whole;
}

Adjoint Adjoints::sum(NodeId node, const Shape& shape) const {
  Adjoint total;
  for (const Adjoint& contribution : whole_[node]) total = plus(total, contribution);
  std::vector<Piece> rest = merge_equal_ranges(slices_[node]);
  while (!rest.empty()) {
    std::vector<Piece> row;
    std::vector<Piece> later;
    for (const Piece& piece : rest) {
      const bool fits = row.empty() || (row.back().axis == piece.axis && row.back().end() <= piece.begin);
      (fits ? row : later).push_back(piece);
    }
    total = plus(total, assemble(row, shape));
    rest = std::move(later);
  }
  return total;
}

}  // namespace cellfuse
