#include "passes/hoist_invariants.h"

#include <fmt/format.h>

#include "ir/print_node.h"
#include "passes/dependence.h"

namespace cellfuse {

Sequence hoist_invariants(const Sequence& sequence) {
  Sequence result = sequence;
  const Graph& graph = result.cell.graph;
  const Dependence dependence = find_dependence(result.cell);
  const ValueNames names(result.cell, dependence.live);
  // Only the last value of a chain is worth a line: the one that other phases read.
  std::vector<bool> read_elsewhere(graph.size(), false);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!dependence.live[id] || graph[id].domain != Domain::Step) continue;
    for (NodeId operand : graph[id].operands) read_elsewhere[viewed_value(graph, operand)] = true;
  }
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (!dependence.live[id] || node.domain == Domain::Step || dependence.late[id]) continue;
    result.placement[id].phase = Phase::Once;
    if (!read_elsewhere[id] || is_leaf(node.op)) continue;
    std::string_view from = node.domain == Domain::Once ? "parameters" : "what a sample is given once";
    result.reasons.push_back(fmt::format("{} depends on {} only: computed once a call", names.expression(id), from));
  }
  return result;
}

}  // namespace cellfuse
