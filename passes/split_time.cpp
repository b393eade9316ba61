#include "passes/split_time.h"

#include "passes/dependence.h"
#include "passes/simplify.h"

namespace cellfuse {

Sequence split_time(const Cell& cell) { return place_in_time(simplify(divide_products(cell))); }

Sequence keep_in_loop(const Cell& cell) {
  Sequence result = place_in_time(cell);
  for (NodeId id = 0; id < cell.graph.size(); ++id) {
    const Node& node = cell.graph[id];
    const bool sum = is_sum_over_steps(node.op) && summed_from(node) == Domain::Step;
    if (node.domain == Domain::Step || sum) result.placement[id].phase = Phase::Step;
  }
  result.reasons.clear();
  return result;
}

}  // namespace cellfuse
