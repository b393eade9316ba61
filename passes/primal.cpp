#include "passes/primal.h"

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

template <typename List>
std::int32_t index_of(const List& list, const std::string& name) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return static_cast<std::int32_t>(i);
  }
  return -1;
}

/// Finds the forward cell's counterpart of the leaves of the backward cell.
class LeafMap {
 public:
  LeafMap(const Cell& forward, const Cell& backward) : forward_(forward), backward_(backward) {}

  /// False for leaves that forward does not have: incoming gradients, the states of backward, its final states.
  bool translate(Node& node) const {
    switch (node.op) {
      case Op::Input: return input(node);
      case Op::Initial:
      case Op::InitialGiven: return initial(node);
      case Op::Param:
        node.index = index_of(forward_.params, backward_.params[static_cast<std::size_t>(node.index)].name);
        return node.index >= 0;
      case Op::State:
      case Op::Final:
      case Op::Placeholder: return false;
      default: return true;
    }
  }

 private:
  bool input(Node& node) const {
    const CellInput& input = backward_.inputs[static_cast<std::size_t>(node.index)];
    if (input.role == InputRole::OutputGrad) return false;
    if (input.role == InputRole::Record) {
      node.op = Op::State;
      node.index = index_of(forward_.states, input.name);
      check_internal(node.index >= 0, "choose_saved", "a record field that is no state of the forward cell");
      return true;
    }
    for (std::size_t i = 0; i < forward_.inputs.size(); ++i) {
      if (forward_.inputs[i].role != input.role || forward_.inputs[i].name != input.name) continue;
      node.index = static_cast<std::int32_t>(i);
      return true;
    }
    return false;
  }

  bool initial(Node& node) const {
    const auto states = static_cast<std::int32_t>(backward_.states.size());
    if (node.index < states) return false;
    const std::string& name = backward_.sample_inputs[static_cast<std::size_t>(node.index - states)].name;
    node.index = index_of(forward_.states, name);
    if (node.index >= 0) return true;
    node.index = index_of(forward_.sample_inputs, name);
    if (node.index < 0) return false;
    node.index += static_cast<std::int32_t>(forward_.states.size());
    return true;
  }

  const Cell& forward_;
  const Cell& backward_;
};

bool joins_steps(Op op) { return op == Op::Accumulate || op == Op::AccumulateOuter; }

}  // namespace

Primal find_primal(Cell& forward, const Cell& backward) {
  const Graph& graph = backward.graph;
  const std::vector<bool> live = reachable(graph, backward.roots());
  const LeafMap leaves(forward, backward);
  Primal primal{std::vector<bool>(graph.size(), false), std::vector<bool>(graph.size(), false),
                std::vector<NodeId>(graph.size(), kNoNode)};
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!live[id]) continue;
    Node node = graph[id];
    bool member = !joins_steps(node.op);
    for (NodeId operand : node.operands) member = member && primal.member[operand];
    if (member && is_leaf(node.op)) member = leaves.translate(node);
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
