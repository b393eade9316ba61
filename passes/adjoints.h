#pragma once

#include <vector>

#include "ir/expr.h"

namespace cellfuse {

/// The gradient of a scalar with respect to a value.
struct Adjoint {
  Expr value;  ///< without a graph: zero
  /// It has come from the branch of a `where` and no other way: where it is 0, the value it belongs to may be one that
  /// was not taken, NaN or infinite, and 0 must come of it whatever it is multiplied with.
  bool tainted = false;

  explicit operator bool() const { return static_cast<bool>(value); }
};

/// Gathers what the users of each value contribute to its adjoint.
class Adjoints {
 public:
  explicit Adjoints(std::size_t nodes) : whole_(nodes), slices_(nodes) {}

  /// A contribution of the shape of the node.
  void add(NodeId node, const Adjoint& contribution) { whole_[node].push_back(contribution); }
  /// A contribution to elements [begin, begin + its size) along `axis`.
  void add_slice(NodeId node, int axis, std::int64_t begin, const Adjoint& contribution);

  /// The sum, of `shape`. Slices that lie side by side become one concatenation; a sum is tainted when each term is.
  Adjoint sum(NodeId node, const Shape& shape) const;

 private:
  struct Piece {
    int axis;
    std::int64_t begin;
    Adjoint adjoint;
    std::int64_t end() const { return begin + adjoint.value.shape()[axis].size; }
  };

  static Adjoint assemble(const std::vector<Piece>& row, const Shape& shape);
  static std::vector<Piece> merge_equal_ranges(std::vector<Piece> pieces);

  std::vector<std::vector<Adjoint>> whole_;
  std::vector<std::vector<Piece>> slices_;
};

}  // namespace cellfuse
