#include "passes/places.h"

#include <algorithm>
#include <map>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

Place::Section section_of(Phase phase, Domain domain) {
  switch (phase) {
    case Phase::Once: return domain == Domain::Once ? Place::Once : Place::Begin;
    case Phase::Before: return Place::Before;
    case Phase::Step: return Place::Step;
    case Phase::After: return Place::After;
    case Phase::Finish: return domain == Domain::Once ? Place::Finish : Place::End;
  }
  return Place::Once;
}

Place::Section source_section(Op op) {
  switch (op) {
    case Op::Initial: return Place::Begin;
    case Op::Input:
    case Op::StepIndex: return Place::Before;
    case Op::State: return Place::Step;
    case Op::Final: return Place::End;
    default: return Place::Once;
  }
}

/// A sum runs where its operands are made; a sum over samples alone, at either end of the call.
Place place_of_sum(const Sequence& sequence, NodeId id) {
  const Node& node = sequence.cell.graph[id];
  Place place;
  for (NodeId operand : node.operands) {
    Place of = place_of(sequence, operand);
    if (of.section > place.section) place = of;
  }
  Phase phase = sequence.placement[id].phase;
  if (summed_from(node) == Domain::Sample) {
    place.section = place.section <= Place::Begin ? Place::Begin : Place::End;
  } else if (phase == Phase::Before || phase == Phase::Step || phase == Phase::After) {
    place = {sequence.placement[id].loop, section_of(phase, Domain::Step)};
  } else {
    place.section = node.op == Op::Accumulate && place.section == Place::Step ? Place::Step : Place::After;
  }
  return place;
}

}  // namespace

bool is_source(const Graph& graph, NodeId id) {
  Op op = graph[id].op;
  return is_leaf(op) && op != Op::Random;
}

bool is_gemm(Op op) { return op == Op::Linear || op == Op::AccumulateOuter; }

bool is_index_view(Op op) { return is_view(op) && op != Op::Concat; }

NodeId behind_views(const Graph& graph, NodeId id) {
  while (is_index_view(graph[id].op)) id = graph[id].operands[0];
  return id;
}

Place place_of(const Sequence& sequence, NodeId id) {
  const Node& node = sequence.cell.graph[id];
  Placement placement = sequence.placement[id];
  if (is_source(sequence.cell.graph, id)) return {placement.loop, source_section(node.op)};
  if (node.op == Op::Accumulate || node.op == Op::AccumulateOuter) return place_of_sum(sequence, id);
  return {placement.loop, section_of(placement.phase, node.domain)};
}

namespace {

Place place_of_output(const Sequence& sequence, NodeId id) {
  Place place = place_of(sequence, id);
  return place.in_chunk() ? place : Place{place.loop, Place::After};
}

int loop_of_state(const Sequence& sequence, int state) {
  for (std::size_t loop = 0; loop < sequence.loops.size(); ++loop) {
    const std::vector<int>& states = sequence.loops[loop].states;
    if (std::find(states.begin(), states.end(), state) != states.end()) return static_cast<int>(loop);
  }
  throw InternalError("find_sinks", "a state that no loop carries");
}

}  // namespace

std::vector<Sink> find_sinks(Sequence& sequence) {
  const Cell& cell = sequence.cell;
  Graph& graph = sequence.cell.graph;
  std::vector<Sink> sinks;
  int record = 0;
  for (std::size_t i = 0; i < cell.outputs.size(); ++i) {
    const CellOutput& output = cell.outputs[i];
    bool is_record = output.role == OutputRole::Record;
    int index = is_record ? record++ : static_cast<int>(i);
    sinks.push_back(
        {is_record ? Sink::Record : Sink::Output, index, output.node, place_of_output(sequence, output.node)});
  }
  for (std::size_t i = 0; i < cell.states.size(); ++i) {
    const CellState& state = cell.states[i];
    int index = static_cast<int>(i);
    int loop = loop_of_state(sequence, index);
    sinks.push_back({Sink::Start, index, state.start, {0, Place::Begin}});
    sinks.push_back({Sink::NextState, index, state.next, {loop, Place::Step}});
    sinks.push_back({Sink::Final, index, leaf(graph, Op::Final, index, state.shape).id, {0, Place::End}});
  }
  for (std::size_t i = 0; i < cell.results.size(); ++i) {
    NodeId node = cell.results[i].node;
    Place place{0, graph[node].domain == Domain::Once ? Place::Finish : Place::End};
    sinks.push_back({Sink::Result, static_cast<int>(i), node, place});
  }
  sequence.placement.resize(graph.size(), {0, Phase::Finish});
  std::vector<bool> live = reachable(graph, cell.roots());
  for (NodeId id = 0; id < live.size(); ++id) {
    if (!live[id] || graph[id].op != Op::Accumulate) continue;
    sinks.push_back({Sink::Sum, static_cast<int>(id), graph[id].operands[0], place_of(sequence, id)});
  }
  return sinks;
}

namespace {

/// Finds which values must be stored: a fixed point over the demands of sinks, GEMMs and places.
class Analysis {
 public:
  Analysis(const Sequence& sequence, const std::vector<Sink>& sinks, DType dtype, bool separate)
      : sequence_(sequence), graph_(sequence.cell.graph), sinks_(sinks), dtype_(dtype), separate_(separate) {
    std::vector<NodeId> roots = sequence.cell.roots();
    for (const Sink& sink : sinks) roots.push_back(sink.node);
    result_.live = reachable(graph_, roots);
    result_.buffered.assign(graph_.size(), false);
    result_.crossing.assign(graph_.size(), false);
    result_.operand.assign(graph_.size(), false);
    result_.level.assign(graph_.size(), 0);
  }

  Materialisation run() {
    for (const Sink& sink : sinks_) {
      bool stored_by_parts = graph_[sink.node].op == Op::Concat && place_of(sequence_, sink.node) == sink.place;
      if (!stored_by_parts) demand(sink.node, sink.place);
    }
    for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
      if (result_.live[id]) demand_operands(id);
    }
    find_levels();
    while (store_shared_work()) {
    }
    return std::move(result_);
  }

 private:
  /// `id` is read by a kernel of `place`.
  void demand(NodeId id, Place place) {
    NodeId base = behind_views(graph_, id);
    const Node& node = graph_[base];
    Place home = place_of(sequence_, base);
    if (is_source(graph_, base)) {
      // Only the loop sees a state move; everybody else reads a copy of each step.
      if (node.op == Op::State && home != place) store(base, true);
      return;
    }
    if (node.op == Op::Accumulate) return;
    if (home != place) store(base, true);
    if (node.op == Op::Concat || is_gemm(node.op)) store(base, false);
  }

  void demand_operands(NodeId id) {
    const Node& node = graph_[id];
    if (is_leaf(node.op) || is_index_view(node.op) || node.op == Op::Accumulate) {
      if (separate_ && node.op == Op::Random) store(id, false);
      return;
    }
    Place place = place_of(sequence_, id);
    if (is_gemm(node.op)) {
      store(id, false);
      bool linear = node.op == Op::Linear;
      demand_gemm_operand(node.operands[0], place, false, !linear);
      demand_gemm_operand(node.operands[1], place, linear, !linear);
      return;
    }
    if (separate_) store(id, false);
    for (NodeId operand : node.operands) demand(operand, place);
  }

  void demand_gemm_operand(NodeId id, Place place, bool weight, bool rows) {
    const Node& node = graph_[id];
    check_internal(!rows || node.domain == Domain::Step, "materialise", "operand of a sum that has no rows");
    result_.operand[id] = true;
    bool in_place = false;
    switch (node.op) {
      case Op::State: in_place = place.section == Place::Step; break;
      case Op::Param: in_place = weight || info(dtype_).compute == dtype_; break;
      case Op::Input:
        in_place = sequence_.cell.inputs[static_cast<std::size_t>(node.index)].role == InputRole::Record &&
                   info(dtype_).compute == dtype_;
        break;
      default: break;
    }
    if (in_place) return;
    store(id, place_of(sequence_, id) != place);
    if (is_index_view(node.op)) demand(node.operands[0], place_of(sequence_, id));
  }

  void store(NodeId id, bool crossing) {
    result_.buffered[id] = true;
    if (crossing) result_.crossing[id] = true;
  }

  void find_levels() {
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& node = graph_[id];
      if (!result_.live[id] || is_leaf(node.op)) continue;
      Place place = place_of(sequence_, id);
      int level = 0;
      for (NodeId operand : node.operands) {
        // A view may carry another place than the value it looks at.
        NodeId base = behind_views(graph_, operand);
        if (!is_leaf(graph_[base].op) && place_of(sequence_, base) == place)
          level = std::max(level, result_.level[base]);
        if (place_of(sequence_, operand) == place) level = std::max(level, result_.level[operand]);
      }
      bool after_memory = is_gemm(node.op) || (separate_ && !is_index_view(node.op));
      result_.level[id] = level + (after_memory ? 1 : 0);
    }
  }

  /// A value that kernels of several levels need is computed once and stored, unless it is a trifle.
  bool store_shared_work() {
    bool changed = false;
    for (auto& [place, levels] : kernel_roots()) {
      std::map<NodeId, int> first_level;
      for (auto& [level, roots] : levels) {
        for (NodeId id : computed_in_place(roots, place, level)) {
          auto [it, fresh] = first_level.try_emplace(id, level);
          if (fresh || it->second == level || result_.buffered[id] || !worth_storing(id)) continue;
          result_.buffered[id] = true;
          changed = true;
        }
      }
    }
    return changed;
  }

  /// What the kernels store, by place and level.
  std::vector<std::pair<Place, std::map<int, std::vector<NodeId>>>> kernel_roots() const {
    std::vector<std::pair<Place, std::map<int, std::vector<NodeId>>>> roots;
    auto add = [&](NodeId id, Place place, int level) {
      auto same_place = [&](const auto& entry) { return entry.first == place; };
      auto it = std::find_if(roots.begin(), roots.end(), same_place);
      if (it == roots.end()) it = roots.insert(roots.end(), {place, {}});
      it->second[level].push_back(id);
    };
    for (const Sink& sink : sinks_) add(sink.node, sink.place, level_in(sink.node, sink.place));
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (result_.buffered[id] && !is_gemm(graph_[id].op)) add(id, place_of(sequence_, id), result_.level[id]);
    }
    return roots;
  }

  /// What a kernel with these roots computes itself, views and constants left out.
  std::vector<NodeId> computed_in_place(std::vector<NodeId> stack, Place place, int level) const {
    std::vector<NodeId> computed;
    std::vector<bool> seen(graph_.size(), false);
    while (!stack.empty()) {
      NodeId id = stack.back();
      stack.pop_back();
      if (seen[id]) continue;
      seen[id] = true;
      const Node& node = graph_[id];
      if (is_source(graph_, id)) continue;
      if (!is_index_view(node.op)) {
        bool ready_before = place_of(sequence_, id) != place || result_.level[id] < level;
        bool summed = node.op == Op::Accumulate;
        if (is_gemm(node.op) || summed || (result_.buffered[id] && ready_before)) continue;
        computed.push_back(id);
      }
      stack.insert(stack.end(), node.operands.begin(), node.operands.end());
    }
    return computed;
  }

  int level_in(NodeId id, Place place) const {
    NodeId base = behind_views(graph_, id);
    return place_of(sequence_, base) == place ? result_.level[base] : 0;
  }

  bool worth_storing(NodeId id) const {
    const Node& node = graph_[id];
    if (cost(node.op) != Cost::Cheap || !is_elementwise(node.op)) return true;
    return std::any_of(node.operands.begin(), node.operands.end(), [&](NodeId operand) {
      NodeId base = behind_views(graph_, operand);
      return !is_source(graph_, base) && !result_.buffered[base];
    });
  }

  const Sequence& sequence_;
  const Graph& graph_;
  const std::vector<Sink>& sinks_;
  DType dtype_;
  bool separate_;
  Materialisation result_;
};

}  // namespace

Materialisation materialise(const Sequence& sequence, const std::vector<Sink>& sinks, DType dtype, bool separate) {
  return Analysis(sequence, sinks, dtype, separate).run();
}

}  // namespace cellfuse
