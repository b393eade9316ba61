#include <map>
#include <set>

#include "ir/expr.h"
#include "passes/combine_gemms.h"
#include "passes/rewrite.h"

namespace cellfuse {

namespace {

/// A value as a part of a Concat.
struct PartOf {
  NodeId concat = kNoNode;
  std::int64_t begin = 0;
};

/// Parts of the Concats that an AccumulateOuter reads, so that they are kept for all steps.
std::map<NodeId, PartOf> find_parts(const Cell& cell, const std::vector<bool>& live) {
  const Graph& graph = cell.graph;
  std::map<NodeId, PartOf> parts;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!live[id] || graph[id].op != Op::AccumulateOuter) continue;
    for (NodeId operand : graph[id].operands) {
      const Node& concat = graph[operand];
      if (concat.op != Op::Concat || concat.shape.rank() != 1 || concat.domain != Domain::Step) continue;
      std::int64_t begin = 0;
      for (NodeId part : concat.operands) {
        if (graph[part].domain == Domain::Step) parts.try_emplace(part, PartOf{operand, begin});
        begin += graph[part].shape[0].size;
      }
    }
  }
  return parts;
}

}  // namespace

std::optional<Cell> join_sums(const Sequence& sequence) {
  const Cell& cell = sequence.cell;
  const Graph& graph = cell.graph;
  const std::map<NodeId, PartOf> parts = find_parts(cell, reachable(graph, cell.roots()));
  if (parts.empty()) return std::nullopt;
  std::set<NodeId> concats;
  for (const auto& [part, place] : parts) concats.insert(place.concat);

  Cell result = cell;
  result.graph = Graph();
  auto copy = [](Graph&, const Node&, NodeId) { return kNoNode; };
  const std::vector<NodeId> early = rebuild(graph, {concats.begin(), concats.end()}, result.graph, copy);
  auto substitute = [&](Graph& target, const Node& node, NodeId id) {
    if (node.op != Op::Accumulate || summed_from(node) != Domain::Step) return kNoNode;
    auto it = parts.find(graph[id].operands[0]);
    if (it == parts.end()) return kNoNode;
    Expr whole = accumulate({&target, early[it->second.concat]}, node.domain, Domain::Step);
    return slice(whole, 0, it->second.begin, node.shape[0]).id;
  };
  map_roots(result, rebuild(graph, cell.roots(), result.graph, substitute));
  return prune(result);
}

}  // namespace cellfuse
