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
                Adjoints& adjoints);

  /// Adds the contributions of node `id`, whose adjoint is `g`.
  void propagate(NodeId id, const Adjoint& g);

 private:
  /// A contribution to the adjoint of an operand, made for each step or sample that `from` has: where the operand has
  /// fewer, they are summed at this point. `untaken` is not read where g_ is not conditional.
  void contribute(NodeId operand, Expr value, Expr untaken, Domain from);

  void elementwise_rule(const Node& node, Expr y);
  void view_rule(const Node& node);
  void concat_rule(const Node& node);
  void broadcast_rule(const Node& node);
  void reduction_rule(const Node& node, Expr y);
  void cumsum_rule(const Node& node);
  void with_grad_rule(const Node& node);
  bool reads(NodeId id, std::int32_t placeholder) const;
  /// A user's gradient with the adjoint of the node at hand in the place of its placeholder.
  Expr substitute(NodeId gradient, std::int32_t placeholder);

  // gradient_rules_products.cpp
  void product_rule(const Node& node);
  void matmul_rule(const Node& node);
  void outer_rule(const Node& node);
  void linear_rule(const Node& node);
  void accumulate_outer_rule(const Node& node);
  /// `factor`, which multiplies the adjoint, but 0 in the rows (elements, where it is a vector) that meet only what is
  /// not taken.
  Expr gate_rows(Expr factor);
  Expr gate_columns(Expr factor);
  Expr gate_all(Expr factor);
  Expr gate(Expr factor, Expr untaken);
  /// Whether each row, each column, all of the adjoint is not taken.
  Expr untaken_rows() const;
  Expr untaken_columns() const;
  Expr untaken_all() const;

  Expr value(NodeId id) const { return {&target_, map_[id]}; }
  bool is_wanted(const Node& node, std::size_t operand) const { return wanted_[node.operands[operand]]; }
  /// 0 where the condition holds, else `value`, through which derivatives pass as the condition tells.
  Expr zero_where(Expr untaken, Expr value);

  const Graph& primal_;
  Graph& target_;
  const std::vector<NodeId>& map_;
  const std::vector<bool>& wanted_;
  Adjoints& adjoints_;
  std::vector<std::vector<std::int32_t>> open_;  // by node of the primal: placeholders that its value reads
  std::int32_t next_placeholder_ = 0;
  Adjoint g_;  // of the node at hand
};

}  // namespace cellfuse
