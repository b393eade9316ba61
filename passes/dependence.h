#pragma once

#include <vector>

#include "ir/cell.h"

namespace cellfuse {

/// How the values of a cell hang together over time; by NodeId.
struct Dependence {
  std::vector<bool> live;         ///< a root needs it
  std::vector<bool> needs_state;  ///< it reads a state before the step
  std::vector<bool> feeds_state;  ///< a state after the step reads it
  std::vector<bool> late;         ///< it depends on a sum over steps or samples, or on a final state
};

Dependence find_dependence(const Cell& cell);

inline bool is_sum_over_steps(Op op) { return op == Op::Accumulate || op == Op::AccumulateOuter; }

}  // namespace cellfuse
