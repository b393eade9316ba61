#include <fmt/format.h>

#include "ir/print_node.h"
#include "passes/dependence.h"
#include "passes/split_time.h"
#include "passes/time_cut.h"

namespace cellfuse {

namespace {

bool is_view_of_one(Op op) { return is_view(op) && op != Op::Concat; }

class Placer {
 public:
  explicit Placer(const Cell& cell)
      : graph_(cell.graph), dependence_(find_dependence(cell)), phases_(cell.graph.size(), Phase::Once) {
    sequence_.cell = cell;
    sequence_.placement.resize(graph_.size());
  }

  Sequence run() {
    make_loop();
    place_by_dependence();
    choose_phases(sequence_.cell, dependence_, phases_);
    place_sums();
    place_views();
    for (NodeId id = 0; id < graph_.size(); ++id) sequence_.placement[id].phase = phases_[id];
    explain();
    return std::move(sequence_);
  }

 private:
  bool live(NodeId id) const { return dependence_.live[id]; }
  bool is_sum(NodeId id) const { return is_sum_over_steps(graph_[id].op); }

  void make_loop();
  void place_by_dependence();
  Phase phase_of_step_value(NodeId id) const;
  void place_sums();
  void place_views();
  void explain();

  Sequence sequence_;
  const Graph graph_;
  Dependence dependence_;
  std::vector<Phase> phases_;
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
Phase Placer::phase_of_step_value(NodeId id) const {
  const Node& node = graph_[id];
  if (!dependence_.needs_state[id]) return Phase::Before;
  if (dependence_.feeds_state[id]) return Phase::Step;
  if (node.op == Op::Linear) return Phase::After;
  for (NodeId operand : node.operands) {
    if (phases_[operand] == Phase::After) return Phase::After;
  }
  return Phase::Step;
}

void Placer::place_by_dependence() {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live(id)) continue;
    if (is_sum(id) && summed_from(graph_[id]) == Domain::Step) {
      phases_[id] = Phase::After;
    } else if (graph_[id].domain != Domain::Step) {
      phases_[id] = dependence_.late[id] ? Phase::Finish : Phase::Once;
    } else {
      phases_[id] = phase_of_step_value(id);
    }
  }
}

/// A plain sum runs beside what it adds up, or after the loop when that is kept for it anyway.
void Placer::place_sums() {
  std::vector<bool> kept(graph_.size(), false);
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live(id) || graph_[id].op == Op::Accumulate || phases_[id] != Phase::After || is_view_of_one(graph_[id].op)) {
      continue;
    }
    for (NodeId operand : graph_[id].operands) kept[viewed_value(graph_, operand)] = true;
  }
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live(id) || graph_[id].op != Op::Accumulate || summed_from(graph_[id]) != Domain::Step) continue;
    NodeId value = viewed_value(graph_, graph_[id].operands[0]);
    if (graph_[value].domain == Domain::Step && !kept[value] && !is_leaf(graph_[value].op)) {
      phases_[id] = phases_[value];
    }
  }
}

/// A view is where all its readers are, or else where the value behind it is.
void Placer::place_views() {
  std::vector<std::vector<Phase>> readers(graph_.size());
  for (const CellState& state : sequence_.cell.states) readers[state.next].push_back(Phase::Step);
  for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
    if (!live(id)) continue;
    const Node& node = graph_[id];
    if (is_view_of_one(node.op) && node.domain == Domain::Step) {
      const Phase home = phases_[viewed_value(graph_, id)];
      phases_[id] = home;
      const std::vector<Phase>& of = readers[id];
      bool same = !of.empty() && std::equal(of.begin() + 1, of.end(), of.begin());
      if (same && of.front() > home && of.front() <= Phase::After) phases_[id] = of.front();
    }
    for (NodeId operand : node.operands) readers[operand].push_back(phases_[id]);
  }
}

void Placer::explain() {
  const ValueNames names(sequence_.cell, dependence_.live);
  std::vector<std::string>& reasons = sequence_.reasons;
  std::string moved;
  int count = 0;
  for (NodeId id = 0; id < graph_.size(); ++id) {
    const Node& node = graph_[id];
    if (!live(id)) continue;
    if (node.op == Op::Linear && node.domain == Domain::Step) {
      std::string_view reason = "feeds the next state: in the loop";
      if (phases_[id] == Phase::Before) reason = "needs no state: one product for all steps, before the loop";
      if (phases_[id] == Phase::After) reason = "feeds no state: one product for all steps, after the loop";
      reasons.push_back(fmt::format("{} {}", names.expression(id), reason));
    } else if (node.op == Op::AccumulateOuter) {
      reasons.push_back(
          fmt::format("{} is one product over all steps and samples, after the loop", names.expression(id)));
    } else if (phases_[id] == Phase::Step && !dependence_.needs_state[id] && is_elementwise(node.op)) {
      ++count;
      if (!graph_.name(id).empty()) moved += (moved.empty() ? "" : ", ") + names[id];
    }
  }
  if (count == 0) return;
  reasons.push_back(
      fmt::format("{} elementwise values{} need no state, but are computed in the loop: keeping them for all "
                  "steps would move more memory",
                  count, moved.empty() ? "" : " (" + moved + ", ...)"));
}

}  // namespace

Sequence place_in_time(const Cell& cell) { return Placer(cell).run(); }

}  // namespace cellfuse
