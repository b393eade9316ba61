#include "passes/rewrite.h"

#include <utility>

#include "ir/diagnostic.h"

namespace cellfuse {

std::vector<NodeId> rebuild(const Graph& graph, const std::vector<NodeId>& roots, Graph& target,
                            const Substitute& substitute) {
  const std::vector<bool> live = reachable(graph, roots);
  std::vector<NodeId> map(graph.size(), kNoNode);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!live[id]) continue;
    Node node = graph[id];
    for (NodeId& operand : node.operands) operand = map[operand];
    NodeId replacement = substitute(target, node, id);
    if (replacement == kNoNode) replacement = target.add(std::move(node));
    check_internal(target[replacement].shape == graph[id].shape, "rebuild", "a replacement has another shape");
    if (!graph.name(id).empty()) target.set_name(replacement, graph.name(id));
    if (Span span = graph.span(id)) target.set_span(replacement, span);
    map[id] = replacement;
  }
  return map;
}

void map_roots(Cell& cell, const std::vector<NodeId>& map) {
  auto follow = [&map](NodeId& id) {
    if (id != kNoNode) id = map[id];
  };
  for (CellState& state : cell.states) {
    follow(state.start);
    follow(state.next);
  }
  for (CellOutput& output : cell.outputs) follow(output.node);
  for (CellResult& result : cell.results) follow(result.node);
}

Cell rewrite(const Cell& cell, const Substitute& substitute) {
  Cell result = cell;
  result.graph = Graph();
  map_roots(result, rebuild(cell.graph, cell.roots(), result.graph, substitute));
  return result;
}

Cell prune(const Cell& cell) {
  return rewrite(cell, [](Graph&, const Node&, NodeId) { return kNoNode; });
}

}  // namespace cellfuse
