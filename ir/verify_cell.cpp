#include <string>

#include "ir/cell.h"
#include "ir/diagnostic.h"
#include "ir/verify_node.h"

namespace cellfuse {

namespace {

constexpr const char* kWhere = "verify(Cell)";

class CellVerifier {
 public:
  explicit CellVerifier(const Cell& cell) : cell_(cell), graph_(cell.graph) {}

  void verify() {
    for (NodeId root : cell_.roots()) require(root < graph_.size(), "a root is not in the graph");
    const std::vector<bool> live = reachable(graph_, cell_.roots());
    finish_.assign(graph_.size(), false);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!live[id]) continue;
      verify_node(graph_, id, kWhere);
      leaf(id);
      time(id);
    }
    placeholders();
    for (const CellState& state : cell_.states) this->state(state);
    for (const CellOutput& output : cell_.outputs) {
      require(!finish_[output.node], "an output depends on a sum over the steps or a final state", output.node);
    }
    for (const CellResult& result : cell_.results) {
      require(result.domain != Domain::Step && graph_[result.node].domain <= result.domain,
              "a result has a value for each step or sample", result.node);
    }
  }

 private:
  static void require(bool condition, const std::string& what) {
    if (!condition) throw InternalError(kWhere, what);
  }
  void require(bool condition, const char* what, NodeId id) const {
    if (!condition) throw InternalError(kWhere, std::string(what) + ": " + describe_node(graph_, id));
  }

  template <typename List>
  void indexed(const List& list, NodeId id) const {
    const Node& node = graph_[id];
    const auto index = static_cast<std::size_t>(node.index);
    require(index < list.size(), "index out of range", id);
    require(list[index].shape == node.shape, "not the declared shape", id);
  }

  void leaf(NodeId id) const {
    const Node& node = graph_[id];
    const auto index = static_cast<std::size_t>(node.index);
    switch (node.op) {
      case Op::Input: return indexed(cell_.inputs, id);
      case Op::Param: return indexed(cell_.params, id);
      case Op::State:
      case Op::Final: return indexed(cell_.states, id);
      case Op::Initial:
        require(index < cell_.states.size() + cell_.sample_inputs.size(), "index out of range", id);
        require(node.shape == (index < cell_.states.size() ? cell_.states[index].shape
                                                           : cell_.sample_inputs[index - cell_.states.size()].shape),
                "not the declared shape", id);
        return;
      case Op::InitialGiven:
        return require(index < cell_.states.size() + cell_.sample_inputs.size(), "index out of range", id);
      default: return;
    }
  }

  void time(NodeId id) {
    const Node& node = graph_[id];
    const bool sum = node.op == Op::Accumulate || node.op == Op::AccumulateOuter;
    bool late = false;
    bool per_step = false;
    for (NodeId operand : node.operands) {
      late = late || finish_[operand];
      per_step = per_step || graph_[operand].domain == Domain::Step;
    }
    require(!sum || !late || !per_step, "a sum over the steps reads another one's result at each step", id);
    finish_[id] = sum || late || node.op == Op::Final;
    require(!finish_[id] || node.domain != Domain::Step,
            "a value of each step depends on a sum over the steps or a final state", id);
  }

  /// The incoming gradient may be read only below the gradients of the with_grad that it belongs to.
  void placeholders() const {
    const auto open = open_placeholders(graph_);
    for (NodeId root : cell_.roots()) {
      require(open[root].empty(), "an incoming gradient is read outside its with_grad", root);
    }
  }

  void state(const CellState& state) const {
    require(graph_[state.start].shape == state.shape && graph_[state.next].shape == state.shape,
            "`start` or `next` of state `" + state.name + "` has another shape than the state");
    require(graph_[state.start].domain != Domain::Step, "the start of a state depends on the step", state.start);
    require(!finish_[state.start], "the start of a state depends on what comes after the last step", state.start);
    require(!finish_[state.next], "the next value of a state depends on what comes after the last step", state.next);
  }

  const Cell& cell_;
  const Graph& graph_;
  std::vector<bool> finish_;
};

}  // namespace

void verify(const Cell& cell) { CellVerifier(cell).verify(); }

}  // namespace cellfuse
