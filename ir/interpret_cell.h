#pragma once

#include "ir/cell.h"
#include "ir/run_data.h"

namespace cellfuse {

/// Runs a cell over a sequence in float64. This is what a cell means:
/// - The forward order walks `t` from 0 up, or down from the last step when `arguments.reverse`; a cell with `backward`
///   walks the other way. StepIndex and random draws are those of the forward order in both.
/// - Before the first step each state holds `start`. At each live step all values of the step are computed from the
///   states as they are, then every state takes `next`.
/// - At a masked step nothing is computed: states stay, outputs are 0, sums leave it out, and what the inputs hold
/// there
///   is not read. The input with the role Reset is `arguments.reset`.
/// - What depends on an Accumulate or a Final is computed after the last step.
/// The mode must be bound (`bind_mode`). Throws UsageError when an array has the wrong size.
RunResults interpret(const Cell& cell, const RunArguments& arguments);

}  // namespace cellfuse
