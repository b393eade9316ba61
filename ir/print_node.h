#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/cell.h"

namespace cellfuse {

/// Text for the values of a cell, for the printers of all levels. Values are called by the user's names, made unique by
/// a suffix (`q`, `q.1`), and `%0`, `%1`, ... where there is none, counted over what the roots need, in the order of
/// the graph.
class ValueNames {
 public:
  /// `live` marks what is named; index = NodeId.
  ValueNames(const Cell& cell, const std::vector<bool>& live);

  /// True for what is written where it is used: numbers, inputs, params, states and the like.
  bool is_inline(NodeId id) const;
  /// `forget_gate`, `%3`, `W`, `0.5`.
  const std::string& operator[](NodeId id) const { return names_[id]; }
  /// `sigmoid(%3)`, `W @ x`.
  std::string expression(NodeId id) const;
  /// `forget_gate: [H] = sigmoid(%3)`, with `once` or `sample` after the shape of what is not computed at each step.
  std::string definition(NodeId id) const;

 private:
  std::string leaf(const Node& node) const;
  std::string initial_name(std::int32_t index) const;
  std::string arguments(const Node& node) const;
  std::string elementwise_expression(const Node& node) const;
  std::string slice(const Node& node) const;
  std::string with_grad(const Node& node) const;
  std::string unique(const std::string& name);

  const Cell& cell_;
  std::vector<std::string> names_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> suffixes_;
};

std::string_view name(Domain domain);
/// What an operation is written with between its operands, or before a single one; empty for functions.
std::string_view operator_of(Op op);

/// `LEVEL NAME(H=3) {` and the declarations, a line each.
std::string print_signature(std::string_view level, const Cell& cell, const ValueNames& names);
/// What is handed out and carried, a line each.
std::string print_roots(const Cell& cell, const ValueNames& names);

}  // namespace cellfuse
