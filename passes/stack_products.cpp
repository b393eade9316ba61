#include <algorithm>
#include <map>
#include <tuple>

#include "ir/expr.h"
#include "passes/combine_gemms.h"
#include "passes/rewrite.h"

namespace cellfuse {

namespace {

/// What products must share to become one.
using Key = std::tuple<Phase, int, NodeId>;

/// Products of a cell that become one: each member is replaced by its part of the group's product.
class Groups {
 public:
  explicit Groups(const Cell& cell) : cell_(cell) {}

  void add(const Key& key, NodeId id) { by_key_[key].push_back(id); }
  /// Makes the groups of more than one member final, with members in the order of their operand `order`. False when
  /// there is none.
  bool settle(std::size_t order);

  /// Parts lie `axis_from_end` axes from the last one. `early` are nodes that a product reads beside the operands of
  /// the member met first: `product(graph, members, first, map)` finds them through `map`, which goes by old ids.
  template <typename Product>
  Cell replace(const std::vector<NodeId>& early, int axis_from_end, const Product& product) const;

 private:
  const Cell& cell_;
  std::map<Key, std::vector<NodeId>> by_key_;
  std::vector<std::vector<NodeId>> groups_;
  std::map<NodeId, std::size_t> group_of_;
};

bool Groups::settle(std::size_t order) {
  for (auto& [key, members] : by_key_) {
    if (members.size() < 2) continue;
    std::stable_sort(members.begin(), members.end(), [&](NodeId a, NodeId b) {
      return reads_before(cell_.graph, cell_.graph[a].operands[order], cell_.graph[b].operands[order]);
    });
    for (NodeId id : members) group_of_[id] = groups_.size();
    groups_.push_back(members);
  }
  return !groups_.empty();
}

template <typename Product>
Cell Groups::replace(const std::vector<NodeId>& early, int axis_from_end, const Product& product) const {
  Cell result = cell_;
  result.graph = Graph();
  auto copy = [](Graph&, const Node&, NodeId) { return kNoNode; };
  const std::vector<NodeId> map = rebuild(cell_.graph, early, result.graph, copy);
  std::vector<NodeId> made(groups_.size(), kNoNode);
  auto substitute = [&](Graph& graph, const Node& node, NodeId id) {
    auto it = group_of_.find(id);
    if (it == group_of_.end()) return kNoNode;
    const std::vector<NodeId>& members = groups_[it->second];
    NodeId& whole = made[it->second];
    if (whole == kNoNode) whole = product(graph, members, node, map).id;
    const int axis = node.shape.rank() - axis_from_end;
    std::int64_t begin = 0;
    for (NodeId member : members) {
      if (member == id) break;
      begin += cell_.graph[member].shape[axis].size;
    }
    return slice({&graph, whole}, axis, begin, node.shape[axis]).id;
  };
  map_roots(result, rebuild(cell_.graph, cell_.roots(), result.graph, substitute));
  return prune(result);
}

bool is_computed(const Graph& graph, NodeId id) { return !is_leaf(graph[viewed_value(graph, id)].op); }

/// AccumulateOuters that share operand `shared` (0 or 1), with the others side by side.
std::optional<Cell> stack_outer(const Cell& cell, std::size_t shared) {
  const Graph& graph = cell.graph;
  const std::vector<bool> live = reachable(graph, cell.roots());
  const std::size_t other = 1 - shared;
  Groups groups(cell);
  std::vector<NodeId> operands;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (!live[id] || node.op != Op::AccumulateOuter || summed_from(node) != Domain::Step) continue;
    if (!is_computed(graph, node.operands[other])) continue;
    groups.add({Phase::After, 0, node.operands[shared]}, id);
    operands.push_back(node.operands[other]);
  }
  if (!groups.settle(other)) return std::nullopt;
  auto product = [&](Graph& target, const std::vector<NodeId>& members, const Node& first,
                     const std::vector<NodeId>& map) {
    std::vector<Expr> parts;
    for (NodeId id : members) parts.push_back({&target, map[graph[id].operands[other]]});
    Expr stacked = concat(parts, parts[0].shape().rank() - 1);
    Expr common{&target, first.operands[shared]};
    return shared == 1 ? accumulate_outer(stacked, common, Domain::Step)
                       : accumulate_outer(common, stacked, Domain::Step);
  };
  return groups.replace(operands, shared == 1 ? 2 : 1, product);
}

}  // namespace

std::optional<Cell> stack_rows(const Sequence& sequence) {
  const Cell& cell = sequence.cell;
  const Graph& graph = cell.graph;
  const std::vector<bool> live = reachable(graph, cell.roots());
  Groups groups(cell);
  std::vector<NodeId> matrices;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (!live[id] || node.op != Op::Linear || node.domain != Domain::Step) continue;
    const Placement& place = sequence.placement[id];
    groups.add({place.phase, place.loop, node.operands[0]}, id);
    matrices.push_back(node.operands[1]);
  }
  if (!groups.settle(1)) return std::nullopt;
  auto product = [&](Graph& target, const std::vector<NodeId>& members, const Node& first,
                     const std::vector<NodeId>& map) {
    std::vector<Expr> rows;
    for (NodeId id : members) {
      Expr matrix{&target, map[graph[id].operands[1]]};
      rows.push_back(graph[id].flag == first.flag ? matrix : transpose(matrix));
    }
    return linear({&target, first.operands[0]}, concat(rows, first.flag ? 1 : 0), first.flag);
  };
  return groups.replace(matrices, 1, product);
}

std::optional<Cell> stack_outer_products(const Sequence& sequence) {
  const std::optional<Cell> rows = stack_outer(sequence.cell, 1);
  const std::optional<Cell> columns = stack_outer(rows ? *rows : sequence.cell, 0);
  return columns ? columns : rows;
}

}  // namespace cellfuse
