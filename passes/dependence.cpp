#include "passes/dependence.h"

namespace cellfuse {

Dependence find_dependence(const Cell& cell) {
  const Graph& graph = cell.graph;
  Dependence result;
  result.live = reachable(graph, cell.roots());
  result.needs_state.assign(graph.size(), false);
  result.late.assign(graph.size(), false);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    result.needs_state[id] = node.op == Op::State;
    result.late[id] = is_sum_over_steps(node.op) || node.op == Op::Final;
    for (NodeId operand : node.operands) {
      if (result.needs_state[operand]) result.needs_state[id] = true;
      if (result.late[operand]) result.late[id] = true;
    }
  }
  std::vector<NodeId> next;
  for (const CellState& state : cell.states) next.push_back(state.next);
  result.feeds_state = reachable(graph, next);
  return result;
}

}  // namespace cellfuse
