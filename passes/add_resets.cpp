#include "passes/add_resets.h"

#include "ir/diagnostic.h"
#include "passes/names.h"
#include "passes/rewrite.h"

namespace cellfuse {

namespace {

bool starts_from_caller(const Cell& cell, std::size_t state) {
  const Graph& graph = cell.graph;
  const Node& start = graph[cell.states[state].start];
  if (start.op != Op::Where) return false;
  const Node& value = graph[start.operands[1]];
  return value.op == Op::Initial && static_cast<std::size_t>(value.index) == state;
}

}  // namespace

Expr initial_or(Expr otherwise, std::int32_t index) {
  Graph& graph = *otherwise.graph;
  const Shape& shape = otherwise.shape();
  return where(leaf(graph, Op::InitialGiven, index, {}), leaf(graph, Op::Initial, index, shape), otherwise);
}

Cell add_initial_values(const Cell& cell) {
  Cell result = cell;
  for (std::size_t i = 0; i < result.states.size(); ++i) {
    if (starts_from_caller(result, i)) continue;
    NodeId& start = result.states[i].start;
    start = initial_or(result.expr(start), static_cast<std::int32_t>(i)).id;
  }
  return result;
}

Cell add_resets(const Cell& cell) {
  for (const CellInput& input : cell.inputs) {
    check_internal(input.role != InputRole::Reset, "add_resets", "the cell has resets already");
  }
  const Cell open = add_initial_values(cell);
  std::vector<NodeId> starts;
  starts.reserve(open.states.size());
  for (const CellState& state : open.states) starts.push_back(state.start);

  Cell result = open;
  result.graph = Graph();
  const auto index = static_cast<std::int32_t>(result.inputs.size());
  result.inputs.push_back(
      {unused_name("reset", result.inputs, result.states, result.params), {}, InputRole::Reset, {}});
  const Expr reset = leaf(result.graph, Op::Input, index, {});
  auto copy = [](Graph&, const Node&, NodeId) { return kNoNode; };
  const std::vector<NodeId> start_map = rebuild(open.graph, starts, result.graph, copy);

  auto select = [&](Graph& target, const Node& node, NodeId) {
    if (node.op != Op::State) return kNoNode;
    const NodeId start = start_map[starts[static_cast<std::size_t>(node.index)]];
    const Expr state = leaf(target, Op::State, node.index, node.shape);
    return where(reset, Expr{&target, start}, state).id;
  };
  map_roots(result, rebuild(open.graph, open.roots(), result.graph, select));
  return result;
}

}  // namespace cellfuse
