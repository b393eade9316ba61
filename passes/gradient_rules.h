#pragma once

#include <vector>

#include "ir/graph.h"
#include "passes/adjoints.h"

namespace cellfuse {

/// The reverse-mode rule of each operation: what the adjoint of a node contributes to those of its operands.
class GradientRules {
 public:
  /// `primal` is differentiated; `map` says, by id of `primal`, where its values are in `target`, which receives the
  /// adjoints. Contributions go to `adjoints`, and only to nodes that are marked in `wanted`.
  GradientRules(const Graph& primal, Graph& target, const std::vector<NodeId>& map, const std::vector<bool>& wanted,
                Adjoints& adjoints)
      : primal_(primal), target_(target), map_(map), wanted_(wanted), adjoints_(adjoints) {}

  /// Adds the contributions of node `id`, whose adjoint is `g`.
  void propagate(NodeId id, const Adjoint& g);

 private:
  /// A contribution to the adjoint of an operand, made for each step or sample that `from` has: where the operand has
  /// fewer, they are summed at this point.
  void contribute(NodeId operand, Expr value, bool tainted, Domain from);

  void elementwise_rule(const Node& node, Expr y, const Adjoint& g);
  void view_rule(const Node& node, const Adjoint& g);
  void concat_rule(const Node& node, const Adjoint& g);
  void reduction_rule(const Node& node, Expr y, const Adjoint& g);
  void matmul_rule(const Node& node, const Adjoint& g);
  void outer_rule(const Node& node, const Adjoint& g);
  void linear_rule(const Node& node, const Adjoint& g);
  void accumulate_outer_rule(const Node& node, const Adjoint& g);
  void with_grad_rule(const Node& node, const Adjoint& g);
  Expr substitute_placeholder(NodeId gradient, std::int32_t index, Expr g);

  Expr value(NodeId id) const { return {&target_, map_[id]}; }
  bool is_wanted(const Node& node, std::size_t operand) const { return wanted_[node.operands[operand]]; }
  /// True where a factor may be NaN or infinite while the adjoint that multiplies it is 0 because of a `where`.
  bool must_gate(const Node& node, std::size_t operand, const Adjoint& g) const;

  const Graph& primal_;
  Graph& target_;
  const std::vector<NodeId>& map_;
  const std::vector<bool>& wanted_;
  Adjoints& adjoints_;
};

}  // namespace cellfuse
