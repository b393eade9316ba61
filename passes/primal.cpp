#include "passes/primal.h"

namespace cellfuse {

namespace {

/// Turns a leaf of the backward cell into its counterpart in the forward cell, by the order that `differentiate` gives
/// inputs, params and sample inputs. False for leaves that forward does not have: incoming gradients, the states of
/// backward and their final values.
bool translate_leaf(Node& node, const Cell& forward, const Cell& backward) {
  const auto inputs = static_cast<std::int32_t>(forward.inputs.size());
  const auto states = static_cast<std::int32_t>(forward.states.size());
  switch (node.op) {
    case Op::Input:
      if (node.index < inputs) return true;
      node.op = Op::State;
      node.index -= inputs;
      return node.index < states;
    case Op::Initial:
    case Op::InitialGiven:
      node.index -= static_cast<std::int32_t>(backward.states.size());
      return node.index >= 0 && node.index < states + static_cast<std::int32_t>(forward.sample_inputs.size());
    case Op::Param: return node.index < static_cast<std::int32_t>(forward.params.size());
    case Op::State:
    case Op::Final:
    case Op::Placeholder: return false;
    default: return true;
  }
}

bool joins_steps(Op op) { return op == Op::Accumulate || op == Op::AccumulateOuter; }

}  // namespace

Primal find_primal(Cell& forward, const Cell& backward) {
  const Graph& graph = backward.graph;
  const std::vector<bool> live = reachable(graph, backward.roots());
  Primal primal{std::vector<bool>(graph.size(), false), std::vector<bool>(graph.size(), false),
                std::vector<NodeId>(graph.size(), kNoNode)};
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!live[id]) continue;
    Node node = graph[id];
    bool member = !joins_steps(node.op);
    for (NodeId operand : node.operands) member = member && primal.member[operand];
    if (member && is_leaf(node.op)) member = translate_leaf(node, forward, backward);
    primal.member[id] = member;
    if (member) {
      for (NodeId& operand : node.operands) operand = primal.place[operand];
      primal.place[id] = forward.graph.add(std::move(node));
      continue;
    }
    for (NodeId operand : node.operands) {
      if (primal.member[operand] && graph[operand].domain == Domain::Step) primal.needed[operand] = true;
    }
  }
  for (NodeId root : backward.roots()) {
    if (primal.member[root] && graph[root].domain == Domain::Step) primal.needed[root] = true;
  }
  return primal;
}

}  // namespace cellfuse
