#pragma once

#include <vector>

#include "ir/expr.h"

namespace cellfuse {

/// The gradient of a scalar with respect to a value.
///
/// Where it comes from a branch of a `where` and no other way, it also says where that branch is not taken: there it is
/// exactly 0, and must stay so although the value it belongs to, or what it is multiplied with, may be NaN or infinite.
struct Adjoint {
  Expr value;    ///< without a graph: zero
  Expr untaken;  ///< of the same shape, not 0 where the branch is not taken; without a graph: taken everywhere
  /// The adjoint was summed over steps or samples with different conditions: `untaken` is where it is 0.
  bool summed = false;

  explicit operator bool() const { return static_cast<bool>(value); }
  bool conditional() const { return summed || untaken; }
};

/// Gathers what the users of each value contribute to its adjoint.
class Adjoints {
 public:
  explicit Adjoints(std::size_t nodes) : whole_(nodes), slices_(nodes) {}

  /// A contribution of the shape of the node.
  void add(NodeId node, const Adjoint& contribution) { whole_[node].push_back(contribution); }
  /// A contribution to elements [begin, begin + its size) along `axis`.
  void add_slice(NodeId node, int axis, std::int64_t begin, const Adjoint& contribution);

  /// The sum, of `shape`. Slices that lie side by side become one concatenation. A sum is conditional when each of its
  /// terms is.
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
