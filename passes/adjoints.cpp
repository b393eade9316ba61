#include "passes/adjoints.h"

#include <algorithm>
#include <tuple>

namespace cellfuse {

namespace {

Adjoint plus(const Adjoint& a, const Adjoint& b) {
  if (!a) return b;
  if (!b) return a;
  return {a.value + b.value, a.tainted && b.tainted};
}

}  // namespace

void Adjoints::add_slice(NodeId node, int axis, std::int64_t begin, const Adjoint& contribution) {
  slices_[node].push_back({axis, begin, contribution});
}

std::vector<Adjoints::Piece> Adjoints::merge_equal_ranges(std::vector<Piece> pieces) {
  std::ranges::stable_sort(pieces, {}, [](const Piece& p) { return std::tuple(p.axis, p.begin, p.end()); });
  std::vector<Piece> merged;
  for (Piece& piece : pieces) {
    Piece* last = merged.empty() ? nullptr : &merged.back();
    if (last != nullptr && last->axis == piece.axis && last->begin == piece.begin && last->end() == piece.end()) {
      last->adjoint = plus(last->adjoint, piece.adjoint);
    } else {
      merged.push_back(std::move(piece));
    }
  }
  return merged;
}

/// Pieces of one axis that do not overlap, in order, with zeros between them. Zeros need no protection, so one tainted
/// piece taints the whole.
Adjoint Adjoints::assemble(const std::vector<Piece>& row, const Shape& shape) {
  const int axis = row.front().axis;
  Graph& graph = *row.front().adjoint.value.graph;
  std::vector<Expr> parts;
  bool tainted = false;
  std::int64_t at = 0;
  auto fill_to = [&](std::int64_t end) {
    if (at < end) parts.push_back(constant(graph, 0.0, shape.with(axis, end - at)));
  };
  for (const Piece& piece : row) {
    fill_to(piece.begin);
    parts.push_back(piece.adjoint.value);
    tainted = tainted || piece.adjoint.tainted;
    at = piece.end();
  }
  fill_to(shape[axis].size);
  return {concat(parts, axis), tainted};
}

Adjoint Adjoints::sum(NodeId node, const Shape& shape) const {
  Adjoint total;
  for (const Adjoint& contribution : whole_[node]) total = plus(total, contribution);
  std::vector<Piece> rest = merge_equal_ranges(slices_[node]);
  while (!rest.empty()) {
    std::vector<Piece> row;
    std::vector<Piece> later;
    for (Piece& piece : rest) {
      const bool fits = row.empty() || (row.back().axis == piece.axis && row.back().end() <= piece.begin);
      (fits ? row : later).push_back(std::move(piece));
    }
    total = plus(total, assemble(row, shape));
    rest = std::move(later);
  }
  return total;
}

}  // namespace cellfuse
