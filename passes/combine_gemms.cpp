#include "passes/combine_gemms.h"

#include <fmt/format.h>

#include <tuple>

#include "passes/hoist_invariants.h"
#include "passes/simplify.h"
#include "passes/split_time.h"

namespace cellfuse {

namespace {

int products_in(const Cell& cell) {
  const std::vector<bool> live = reachable(cell.graph, cell.roots());
  int count = 0;
  for (NodeId id = 0; id < cell.graph.size(); ++id) {
    const Node& node = cell.graph[id];
    const bool product = (node.op == Op::Linear && node.domain == Domain::Step) || node.op == Op::AccumulateOuter;
    if (live[id] && product) ++count;
  }
  return count;
}

std::tuple<bool, std::int64_t, std::int64_t> rank_of(const Graph& graph, NodeId id) {
  const NodeId value = viewed_value(graph, id);
  const bool param = graph[value].op == Op::Param;
  const std::int64_t begin = graph[id].op == Op::Slice ? graph[id].begin : 0;
  return {!param, param ? graph[value].index : static_cast<std::int64_t>(value), begin};
}

}  // namespace

bool reads_before(const Graph& graph, NodeId a, NodeId b) { return rank_of(graph, a) < rank_of(graph, b); }

Sequence combine_gemms(const Sequence& sequence) {
  constexpr std::optional<Cell> (*kParts[])(const Sequence&) = {combine_sums, stack_rows, stack_outer_products,
                                                                join_sums};
  Sequence result = sequence;
  bool changed = false;
  for (auto* part : kParts) {
    std::optional<Cell> combined = part(result);
    if (!combined) continue;
    result = place_in_time(simplify(*combined));
    changed = true;
  }
  if (!changed) return sequence;
  result = hoist_invariants(result);
  const int before = products_in(sequence.cell);
  const int after = products_in(result.cell);
  if (after < before) {
    result.reasons.push_back(fmt::format("{} products with matrices were combined to {}", before, after));
  }
  return result;
}

}  // namespace cellfuse
