#include <fmt/format.h>

#include "ir/print_node.h"
#include "passes/dependence.h"
#include "passes/min_cut.h"
#include "passes/split_time.h"

namespace cellfuse {

namespace {

bool is_view_of_one(Op op) { return is_view(op) && op != Op::Concat; }

class Placer {
 public:
  explicit Placer(const Cell& cell) : graph_(cell.graph), dependence_(find_dependence(cell)) {
    sequence_.cell = cell;
    sequence_.placement.resize(graph_.size());
  }

  Sequence run() {
    make_loop();
    place_by_dependence();
    find_kept();
    move_into_step();
    place_sums();
    place_views();
    explain();
    return std::move(sequence_);
  }

 private:
  Phase& phase(NodeId id) { return sequence_.placement[id].phase; }
  bool live(NodeId id) const { return dependence_.live[id]; }
  bool is_sum(NodeId id) const { return is_sum_over_steps(graph_[id].op); }

  void make_loop();
  void place_by_dependence();
  Phase phase_of_step_value(NodeId id);
  void find_kept();
  bool is_movable(NodeId id) const;
  void move_into_step();
  void place_sums();
  void place_views();
  void explain();

  Sequence sequence_;
  const Graph graph_;
  Dependence dependence_;
  std::vector<bool> kept_;  ///< by node: read after the loop, so that it is kept for all steps wherever it is made
  bool product_in_step_ = false;
};

void Placer::make_loop() {
  Loop loop;
  loop.name = sequence_.cell.name;
  loop.backward = sequence_.cell.backward;
  for (std::size_t i = 0; i < sequence_.cell.states.size(); ++i) loop.states.push_back(static_cast<int>(i));
  sequence_.loops.push_back(std::move(loop));
}

/// After the loop: products that feed no state, and what depends on them. Other work that feeds no state is done beside
/// what it reads.
Phase Placer::phase_of_step_value(NodeId id) {
  const Node& node = graph_[id];
  if (!dependence_.needs_state[id]) return Phase::Before;
  if (dependence_.feeds_state[id]) return Phase::Step;
  if (node.op == Op::Linear) return Phase::After;
  for (NodeId operand : node.operands) {
    if (phase(operand) == Phase::After) return Phase::After;
  }
  return Phase::Step;
}

void Placer::place_by_dependence() {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live(id)) continue;
    if (is_sum(id) && summed_from(graph_[id]) == Domain::Step) {
      phase(id) = Phase::After;
    } else if (graph_[id].domain != Domain::Step) {
      phase(id) = dependence_.late[id] ? Phase::Finish : Phase::Once;
    } else {
      phase(id) = phase_of_step_value(id);
      if (phase(id) == Phase::Step && graph_[id].op == Op::Linear) product_in_step_ = true;
    }
  }
}

void Placer::find_kept() {
  kept_.assign(graph_.size(), false);
  for (NodeId id = 0; id < graph_.size(); ++id) {
    bool after = live(id) && phase(id) == Phase::After && graph_[id].op != Op::Accumulate;
    if (!after || is_view_of_one(graph_[id].op)) continue;
    for (NodeId operand : graph_[id].operands) {
      NodeId value = viewed_value(graph_, operand);
      if (phase(value) != Phase::After) kept_[value] = true;
    }
  }
}

bool Placer::is_movable(NodeId id) const {
  const Op op = graph_[id].op;
  return is_elementwise(op) || op == Op::Concat || op == Op::Random;
}

/// Work before the loop moves into it where that saves traffic. A minimum cut between what must be before the loop and
/// what is in the loop; each value costs the elements that are stored and loaded for it, and a transcendental operation
/// in a loop that waits for a product costs as much as one more load.
void Placer::move_into_step() {
  constexpr std::int64_t kLoad = 1;
  constexpr std::int64_t kStore = 1;
  const auto count = static_cast<int>(graph_.size());
  const int source = 2 * count;
  const int sink = source + 1;
  auto in = [](NodeId id) { return 2 * static_cast<int>(id); };
  auto out = [](NodeId id) { return 2 * static_cast<int>(id) + 1; };
  auto takes_part = [&](NodeId id) {
    const Op op = graph_[id].op;
    return live(id) && graph_[id].domain == Domain::Step && phase(id) == Phase::Before && op != Op::StepIndex &&
           !is_view_of_one(op);
  };
  // Only what leads to the loop may move.
  std::vector<bool> leads(graph_.size(), false);
  for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
    if (!live(id) || is_sum(id) || graph_[id].domain != Domain::Step) continue;
    bool reader = leads[id] || phase(id) == Phase::Step;
    for (NodeId operand : graph_[id].operands) leads[operand] = leads[operand] || reader;
  }
  for (const CellState& state : sequence_.cell.states) leads[state.next] = true;

  MinCut cut(2 * count + 2);
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live(id) || is_sum(id) || is_view_of_one(graph_[id].op)) continue;
    const std::int64_t size = graph_[id].shape.count();
    const bool part = takes_part(id);
    if (part) {
      const bool given = graph_[id].op == Op::Input || kept_[id];
      cut.add_edge(in(id), out(id), size * (given ? kLoad : kStore + kLoad));
      const bool dear = product_in_step_ && cost(graph_[id].op) == Cost::Transcendental;
      cut.add_edge(source, in(id), !is_movable(id) || !leads[id] ? MinCut::kInfinite : (dear ? size * kLoad : 0));
    }
    for (NodeId operand : graph_[id].operands) {
      NodeId value = viewed_value(graph_, operand);
      if (!takes_part(value)) continue;
      if (part) {
        cut.add_edge(out(value), in(id), MinCut::kInfinite);
        cut.add_edge(in(id), in(value), MinCut::kInfinite);
      } else if (phase(id) == Phase::Step) {
        cut.add_edge(out(value), sink, MinCut::kInfinite);
      }
    }
  }
  for (const CellState& state : sequence_.cell.states) {
    NodeId value = viewed_value(graph_, state.next);
    if (takes_part(value)) cut.add_edge(out(value), sink, MinCut::kInfinite);
  }
  std::vector<bool> before = cut.source_side(source, sink);
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (takes_part(id) && !is_leaf(graph_[id].op) && !before[static_cast<std::size_t>(in(id))]) phase(id) = Phase::Step;
    if (takes_part(id) && graph_[id].op == Op::Random && !before[static_cast<std::size_t>(in(id))]) {
      phase(id) = Phase::Step;
    }
  }
}

/// A plain sum runs beside what it adds up, or after the loop when that is kept anyway.
void Placer::place_sums() {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live(id) || graph_[id].op != Op::Accumulate || summed_from(graph_[id]) != Domain::Step) continue;
    NodeId value = viewed_value(graph_, graph_[id].operands[0]);
    if (graph_[value].domain != Domain::Step || kept_[value]) continue;
    phase(id) = phase(value);
  }
}

/// A view is where all its readers are, or else where the value behind it is.
void Placer::place_views() {
  std::vector<std::vector<Phase>> readers(graph_.size());
  for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
    if (!live(id)) continue;
    const Node& node = graph_[id];
    if (is_view_of_one(node.op) && node.domain == Domain::Step) {
      const Phase home = phase(viewed_value(graph_, id));
      phase(id) = home;
      const std::vector<Phase>& of = readers[id];
      bool same = !of.empty() && std::equal(of.begin() + 1, of.end(), of.begin());
      if (same && of.front() > home && of.front() <= Phase::After) phase(id) = of.front();
    }
    for (NodeId operand : node.operands) readers[operand].push_back(phase(id));
  }
}

void Placer::explain() {
  const ValueNames names(sequence_.cell, dependence_.live);
  std::vector<std::string>& reasons = sequence_.reasons;
  std::string moved;
  for (NodeId id = 0; id < graph_.size(); ++id) {
    const Node& node = graph_[id];
    if (!live(id)) continue;
    if (node.op == Op::Linear && node.domain == Domain::Step) {
      std::string_view reason = "feeds the next state: in the loop";
      if (phase(id) == Phase::Before) reason = "needs no state: one product for all steps, before the loop";
      if (phase(id) == Phase::After) reason = "feeds no state: one product for all steps, after the loop";
      reasons.push_back(fmt::format("{} {}", names.expression(id), reason));
    } else if (node.op == Op::AccumulateOuter) {
      reasons.push_back(
          fmt::format("{} is one product over all steps and samples, after the loop", names.expression(id)));
    } else if (phase(id) == Phase::Step && !dependence_.needs_state[id] && is_elementwise(node.op)) {
      moved += (moved.empty() ? "" : ", ") + names[id];
    }
  }
  if (moved.empty()) return;
  reasons.push_back(fmt::format(
      "{}: needs no state, but is done in the loop, since keeping it for all steps would move more memory", moved));
}

}  // namespace

Sequence place_in_time(const Cell& cell) { return Placer(cell).run(); }

}  // namespace cellfuse
