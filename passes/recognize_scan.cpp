#include "passes/recognize_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/dependence.h"

namespace cellfuse {

namespace {

/// How a value depends on the states of the loop, element by element.
enum class Degree : std::uint8_t { Constant, Linear, Other };

Degree degree_of(const Graph& graph, NodeId id, const std::vector<Degree>& degrees) {
  const Node& node = graph[id];
  if (node.op == Op::State) return Degree::Linear;
  Degree highest = Degree::Constant;
  for (NodeId operand : node.operands) highest = std::max(highest, degrees[operand]);
  if (highest != Degree::Linear) return highest;
  auto of = [&](std::size_t i) { return degrees[node.operands[i]]; };
  switch (node.op) {
    case Op::Neg:
    case Op::Add:
    case Op::Sub: return Degree::Linear;
    case Op::Mul: return of(0) == Degree::Linear && of(1) == Degree::Linear ? Degree::Other : Degree::Linear;
    case Op::Div: return of(1) == Degree::Constant ? Degree::Linear : Degree::Other;
    case Op::Where: return of(0) == Degree::Constant ? Degree::Linear : Degree::Other;
    default: return Degree::Other;
  }
}

}  // namespace

Sequence recognize_scan(const Sequence& sequence) {
  Sequence result = sequence;
  const Graph& graph = result.cell.graph;
  const std::vector<bool> live = reachable(graph, result.cell.roots());
  std::vector<Degree> degrees(graph.size(), Degree::Constant);
  for (NodeId id = 0; id < graph.size(); ++id) degrees[id] = degree_of(graph, id, degrees);
  for (std::size_t i = 0; i < result.loops.size(); ++i) {
    Loop& loop = result.loops[i];
    loop.has_gemm = false;
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Placement& place = result.placement[id];
      const bool here = live[id] && place.phase == Phase::Step && static_cast<std::size_t>(place.loop) == i;
      if (here && graph[id].op == Op::Linear && graph[id].domain == Domain::Step) loop.has_gemm = true;
    }
    loop.linear = !loop.has_gemm && !loop.states.empty();
    for (int state : loop.states) {
      const NodeId next = result.cell.states[static_cast<std::size_t>(state)].next;
      if (degrees[next] == Degree::Other) loop.linear = false;
    }
    if (loop.has_gemm || loop.states.empty()) continue;
    result.reasons.push_back(fmt::format("loop {} has no product with a matrix{}: each unit walks time by itself",
                                         loop.name, loop.linear ? " and is linear in its states" : ""));
  }
  return result;
}

}  // namespace cellfuse
