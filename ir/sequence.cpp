#include "ir/sequence.h"

#include <fmt/format.h>

#include "ir/diagnostic.h"
#include "ir/print_node.h"

namespace cellfuse {

namespace {

constexpr std::string_view kPhaseNames[] = {"once", "before", "step", "after", "finish"};

std::string_view explain(Phase phase) {
  switch (phase) {
    case Phase::Once: return "once a call";
    case Phase::Before: return "all steps at once, before the loop";
    case Phase::Step: return "the loop";
    case Phase::After: return "all steps at once, after the loop";
    case Phase::Finish: return "once a call, at its end";
  }
  return "";
}

/// Every place of a sequence in the order of computation.
std::vector<Placement> places(const Sequence& sequence) {
  std::vector<Placement> result{{0, Phase::Once}};
  for (int loop = 0; loop < static_cast<int>(sequence.loops.size()); ++loop) {
    for (Phase phase : {Phase::Before, Phase::Step, Phase::After}) result.push_back({loop, phase});
  }
  result.push_back({0, Phase::Finish});
  return result;
}

std::string loop_header(const Sequence& sequence, const Loop& loop) {
  std::string text =
      fmt::format("    loop {}: {}, carries", loop.name, loop.backward ? "last step to first" : "first step to last");
  for (std::size_t i = 0; i < loop.states.size(); ++i) {
    text += fmt::format("{} {}", i > 0 ? "," : "", sequence.cell.states[static_cast<std::size_t>(loop.states[i])].name);
  }
  if (loop.states.empty()) text += " nothing";
  if (!loop.has_gemm) text += "; no matrix product";
  if (loop.linear) text += "; linear in its states";
  return text + "\n";
}

bool same_place(const Placement& a, const Placement& b) {
  bool in_loop = b.phase != Phase::Once && b.phase != Phase::Finish;
  return a.phase == b.phase && (!in_loop || a.loop == b.loop);
}

}  // namespace

std::string_view name(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }

NodeId viewed_value(const Graph& graph, NodeId id) {
  while (is_view(graph[id].op) && graph[id].op != Op::Concat) id = graph[id].operands[0];
  return id;
}

std::vector<NodeId> crossing_values(const Sequence& sequence) {
  const Graph& graph = sequence.cell.graph;
  const std::vector<bool> live = reachable(graph, sequence.cell.roots());
  std::vector<bool> crosses(graph.size(), false);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (!live[id] || (is_view(node.op) && node.op != Op::Concat)) continue;
    for (NodeId operand : node.operands) {
      NodeId value = viewed_value(graph, operand);
      bool kept_by_caller = graph[value].op == Op::Input || graph[value].op == Op::StepIndex;
      if (graph[value].domain != Domain::Step || kept_by_caller) continue;
      if (!same_place(sequence.placement[value], sequence.placement[id])) crosses[value] = true;
    }
  }
  std::vector<NodeId> result;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (crosses[id]) result.push_back(id);
  }
  return result;
}

std::string print(const Sequence& sequence) {
  const Cell& cell = sequence.cell;
  const std::vector<bool> live = reachable(cell.graph, cell.roots());
  const ValueNames names(cell, live);
  std::vector<bool> crosses(cell.graph.size(), false);
  for (NodeId id : crossing_values(sequence)) crosses[id] = true;
  std::string text = print_signature("sequence", cell, names);
  for (const Placement& place : places(sequence)) {
    std::string lines;
    for (NodeId id = 0; id < cell.graph.size(); ++id) {
      if (!live[id] || names.is_inline(id) || !same_place(sequence.placement[id], place)) continue;
      lines += fmt::format("    {}{}\n", names.definition(id), crosses[id] ? "  # kept for all steps" : "");
    }
    const bool loop = place.phase == Phase::Step;
    if (lines.empty() && !loop) continue;
    text += fmt::format("  {}:  # {}\n", name(place.phase), explain(place.phase));
    if (loop) text += loop_header(sequence, sequence.loops[static_cast<std::size_t>(place.loop)]);
    text += lines;
  }
  return text + print_roots(cell, names) + "}\n";
}

}  // namespace cellfuse
