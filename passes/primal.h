#pragma once

#include <vector>

#include "ir/cell.h"

namespace cellfuse {

/// The values of a backward cell that belong to the forward pass: computed from inputs, params and the states before
/// the step alone.
struct Primal {
  std::vector<bool> member;  ///< by NodeId of the backward cell
  std::vector<bool> needed;  ///< members of domain Step that a value outside reads, or that are handed out
  std::vector<NodeId>
      place;  ///< by NodeId of the backward cell: the same value in the forward graph; kNoNode for others
};

/// Finds them, and adds to the graph of `forward` those that it does not have.
Primal find_primal(Cell& forward, const Cell& backward);

}  // namespace cellfuse
