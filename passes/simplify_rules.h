#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "ir/expr.h"

namespace cellfuse {

/// Applies the rules of `simplify` to nodes whose operands are simplified. For the files of that pass only.
class Simplifier {
 public:
  /// A simpler equal value, or `raw` itself. The node stays in the graph, without a user.
  Expr operator()(Expr raw);

  /// All users of the value are slices that do not overlap, so that even costly work may be done slice by slice.
  void mark_sliced(NodeId id) { sliced_.insert(id); }
  bool is_sliced(NodeId id) const { return sliced_.contains(id); }
  /// All users of the value are transposes.
  void mark_transposed(NodeId id) { transposed_.insert(id); }
  bool is_transposed(NodeId id) const { return transposed_.contains(id); }

  /// The value `op(b, a)` or `op(a, b)` that was asked for first, for a commutative `op`.
  Expr commuted(Expr raw);

 private:
  /// Deeper nesting is left to the next round.
  static constexpr int kMaxDepth = 400;

  int depth_ = 0;
  std::unordered_map<NodeId, NodeId> done_;
  std::unordered_set<NodeId> sliced_;
  std::unordered_set<NodeId> transposed_;
  std::map<std::tuple<Op, NodeId, NodeId>, NodeId> commutative_;
};

// Each returns an Expr without a graph where no rule applies.
Expr simplify_elementwise(Simplifier& simplify, Expr e);
Expr simplify_algebra(Simplifier& simplify, Expr e);
Expr simplify_slice(Simplifier& simplify, Expr e);
Expr simplify_concat(Simplifier& simplify, Expr e);
Expr simplify_view(Simplifier& simplify, Expr e);
Expr simplify_reduction(Simplifier& simplify, Expr e);
Expr simplify_contraction(Simplifier& simplify, Expr e);

/// Operand `i` of a node as an expression.
inline Expr operand(Expr e, std::size_t i) { return {e.graph, e.node().operands[i]}; }
/// True when the operation may be done before its operand is spread, or on parts of it. The gradient of clip_grad is
/// clamped after the gradients of all readers were added up.
inline bool distributes(Op op) { return op != Op::ClipGrad; }
inline bool is(Expr e, Op op) { return e.node().op == op; }
inline bool is_constant(Expr e, double value) { return is(e, Op::Constant) && e.node().value == value; }

}  // namespace cellfuse
