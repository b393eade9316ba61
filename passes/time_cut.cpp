#include "passes/time_cut.h"

#include "passes/min_cut.h"

namespace cellfuse {

namespace {

constexpr std::int64_t kLoad = 1;
constexpr std::int64_t kStore = 1;

class TimeCut {
 public:
  TimeCut(const Cell& cell, const Dependence& dependence, std::vector<Phase>& phases)
      : cell_(cell),
        graph_(cell.graph),
        dependence_(dependence),
        phases_(phases),
        cut_(6 * static_cast<int>(cell.graph.size()) + 2) {}

  void run();

 private:
  // Nodes of the cut. On the source's side: the value is made before the loop; ... in the loop or before it. The others
  // stand for a value being read: in or after the loop, after the loop, before the loop.
  int not_before(NodeId id) const { return 6 * static_cast<int>(id); }
  int after(NodeId id) const { return 6 * static_cast<int>(id) + 1; }
  int read_late(NodeId id) const { return 6 * static_cast<int>(id) + 2; }
  int read_after(NodeId id) const { return 6 * static_cast<int>(id) + 3; }
  int read_before(NodeId id) const { return 6 * static_cast<int>(id) + 4; }
  int source() const { return 6 * static_cast<int>(graph_.size()); }
  int sink() const { return source() + 1; }
  void forbid(int on_source_side, int on_sink_side) { cut_.add_edge(on_source_side, on_sink_side, MinCut::kInfinite); }

  bool is_view_of_one(NodeId id) const { return is_view(graph_[id].op) && graph_[id].op != Op::Concat; }
  /// Values whose phase is chosen, and the inputs they read.
  bool takes_part(NodeId id) const {
    return dependence_.live[id] && graph_[id].domain == Domain::Step && !dependence_.needs_state[id] &&
           !is_view_of_one(id) && graph_[id].op != Op::StepIndex;
  }
  bool is_given(NodeId id) const { return graph_[id].op == Op::Input; }

  void look_at_loop();
  void add_value(NodeId id);
  void add_reader(NodeId reader, NodeId value);

  const Cell& cell_;
  const Graph& graph_;
  const Dependence& dependence_;
  std::vector<Phase>& phases_;
  MinCut cut_;
  std::vector<bool> kept_;  ///< by node: an AccumulateOuter reads it
  bool product_in_loop_ = false;
  bool reduction_in_loop_ = false;
};

void TimeCut::look_at_loop() {
  kept_.assign(graph_.size(), false);
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!dependence_.live[id]) continue;
    const Node& node = graph_[id];
    if (node.op == Op::AccumulateOuter) {
      for (NodeId operand : node.operands) kept_[viewed_value(graph_, operand)] = true;
    }
    if (node.domain != Domain::Step || !dependence_.needs_state[id] || phases_[id] != Phase::Step) continue;
    product_in_loop_ = product_in_loop_ || node.op == Op::Linear;
    reduction_in_loop_ = reduction_in_loop_ || is_reduction(node.op) || node.op == Op::CumSum;
  }
}

void TimeCut::add_value(NodeId id) {
  const Op op = graph_[id].op;
  const std::int64_t size = graph_[id].shape.count();
  forbid(not_before(id), after(id));
  if (is_given(id)) {
    forbid(source(), not_before(id));
    cut_.add_edge(read_before(id), sink(), size * kLoad);
  } else if (dependence_.feeds_state[id]) {
    forbid(source(), after(id));
  }
  // A Concat is made where it is read: it is stored part by part.
  const bool movable = is_elementwise(op) || op == Op::Concat || op == Op::Random || is_given(id);
  const bool reduction = is_reduction(op) || op == Op::CumSum;
  const bool stays_out = op == Op::Linear || (reduction && (product_in_loop_ || !reduction_in_loop_));
  if (stays_out || (!movable && !reduction)) forbid(after(id), not_before(id));
  const bool dear = product_in_loop_ && cost(op) == Cost::Transcendental && !is_given(id);
  if (dear) cut_.add_edge(after(id), not_before(id), size * kLoad);
  const std::int64_t moved = is_given(id) ? kLoad : kStore + kLoad;
  cut_.add_edge(not_before(id), read_late(id), size * (kept_[id] ? kLoad : moved));
  cut_.add_edge(after(id), read_after(id), size * moved);
}

void TimeCut::add_reader(NodeId reader, NodeId value) {
  if (takes_part(reader)) {
    forbid(read_late(value), not_before(reader));
    forbid(read_after(value), after(reader));
    forbid(not_before(reader), not_before(value));
    forbid(after(reader), after(value));
    if (is_given(value)) forbid(not_before(reader), read_before(value));
    return;
  }
  // The sums of outer products wait for the end anyway.
  if (is_sum_over_steps(graph_[reader].op)) return;
  forbid(read_late(value), sink());
  if (phases_[reader] == Phase::After) {
    forbid(read_after(value), sink());
  } else {
    forbid(source(), after(value));
  }
}

void TimeCut::run() {
  look_at_loop();
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!dependence_.live[id] || is_view_of_one(id)) continue;
    if (takes_part(id)) add_value(id);
    for (NodeId operand : graph_[id].operands) {
      NodeId value = viewed_value(graph_, operand);
      if (takes_part(value)) add_reader(id, value);
    }
  }
  for (const CellState& state : cell_.states) {
    NodeId value = viewed_value(graph_, state.next);
    if (takes_part(value)) forbid(read_late(value), sink());
  }
  const std::vector<bool> early = cut_.source_side(source(), sink());
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!takes_part(id)) continue;
    const bool before = early[static_cast<std::size_t>(not_before(id))];
    const bool not_after = early[static_cast<std::size_t>(after(id))];
    phases_[id] = before ? Phase::Before : (not_after ? Phase::Step : Phase::After);
  }
}

}  // namespace

void choose_phases(const Cell& cell, const Dependence& dependence, std::vector<Phase>& phases) {
  TimeCut(cell, dependence, phases).run();
}

}  // namespace cellfuse
