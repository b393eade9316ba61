#include <fmt/format.h>

#include "ir/diagnostic.h"
#include "ir/sequence.h"
#include "ir/verify_node.h"

namespace cellfuse {

namespace {

constexpr const char* kWhere = "verify(Sequence)";

class SequenceVerifier {
 public:
  explicit SequenceVerifier(const Sequence& sequence) : sequence_(sequence), graph_(sequence.cell.graph) {}

  void verify() {
    cellfuse::verify(sequence_.cell);
    if (sequence_.placement.size() < graph_.size()) throw InternalError(kWhere, "a value has no place");
    loops();
    const std::vector<bool> live = reachable(graph_, sequence_.cell.roots());
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!live[id]) continue;
      domain(id);
      for (NodeId operand : graph_[id].operands) order(id, operand);
    }
    for (const CellState& state : sequence_.cell.states) next(state);
  }

 private:
  void fail(NodeId id, const std::string& what) const {
    throw InternalError(kWhere, fmt::format("{} in phase `{}`: {}", what, name(sequence_.placement[id].phase),
                                            describe_node(graph_, id)));
  }

  void loops() {
    loop_of_state_.assign(sequence_.cell.states.size(), -1);
    for (std::size_t loop = 0; loop < sequence_.loops.size(); ++loop) {
      for (int state : sequence_.loops[loop].states) {
        int& of = loop_of_state_.at(static_cast<std::size_t>(state));
        if (of >= 0) throw InternalError(kWhere, "two loops carry the same state");
        of = static_cast<int>(loop);
      }
    }
    for (int of : loop_of_state_) {
      if (of < 0) throw InternalError(kWhere, "no loop carries a state");
    }
  }

  /// Phases that know a value of the domain.
  void domain(NodeId id) const {
    const Node& node = graph_[id];
    const Phase phase = sequence_.placement[id].phase;
    const bool in_steps = phase != Phase::Once && phase != Phase::Finish;
    const bool sum = node.op == Op::Accumulate || node.op == Op::AccumulateOuter;
    if (sum) {
      if (summed_from(node) == Domain::Step && !in_steps) fail(id, "a sum over the steps");
      if (summed_from(node) == Domain::Sample && phase != Phase::Finish) fail(id, "a sum over the samples");
      return;
    }
    if ((node.domain == Domain::Step) != in_steps) fail(id, "a value of another domain");
    if (node.op == Op::State) {
      int loop = loop_of_state_[static_cast<std::size_t>(node.index)];
      if (phase != Phase::Step || sequence_.placement[id].loop != loop) fail(id, "a state outside its loop");
    }
  }

  /// What `id` reads is there. A sum over the steps is there when all steps are done.
  void order(NodeId id, NodeId operand) const {
    const Placement user = sequence_.placement[id];
    const Placement maker = sequence_.placement[operand];
    const bool sum = graph_[operand].op == Op::Accumulate || graph_[operand].op == Op::AccumulateOuter;
    if (sum && user.phase != Phase::Finish) fail(id, "a sum is read before it is complete");
    const bool in_loops = maker.phase != Phase::Once && user.phase != Phase::Finish;
    if (in_loops && maker.loop != user.loop) {
      for (const LoopEdge& edge : sequence_.edges) {
        if (edge.from == maker.loop && edge.to == user.loop) return;
      }
      fail(id, "a value of a loop that none of the edges leads from");
    }
    if (maker.phase > user.phase) fail(id, "a value is read before it is made");
  }

  void next(const CellState& state) const {
    if (graph_[state.next].domain != Domain::Step) return;
    if (sequence_.placement[state.next].phase > Phase::Step) {
      throw InternalError(kWhere, "the next value of state `" + state.name + "` is made after the loop");
    }
  }

  const Sequence& sequence_;
  const Graph& graph_;
  std::vector<int> loop_of_state_;
};

}  // namespace

void verify(const Sequence& sequence) { SequenceVerifier(sequence).verify(); }

}  // namespace cellfuse
