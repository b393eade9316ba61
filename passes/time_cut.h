#pragma once

#include <vector>

#include "ir/sequence.h"
#include "passes/dependence.h"

namespace cellfuse {

/// Chooses the phase of each value of domain Step that needs no state: before the loop, in it, or after it.
///
/// What it moves through memory is least: the elements that are stored and loaded where a value is made in one phase
/// and read in another, and loaded where an input is read. A product with a matrix is never in the loop; a reduction
/// only where the loop has reductions and no product anyway; a transcendental operation in a loop that waits for
/// products costs as much as one more load. Among equal choices the later phase. Found as a minimum cut: two binary
/// variables for each value, `not before the loop` and `after the loop`.
///
/// `phases` has the phases of the values that need a state; those of the others are filled in.
void choose_phases(const Cell& cell, const Dependence& dependence, std::vector<Phase>& phases);

}  // namespace cellfuse
