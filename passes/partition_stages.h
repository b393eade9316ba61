#pragma once

#include "ir/plan.h"
#include "passes/plan_options.h"

namespace cellfuse {

/// Lowers a Sequence to a Plan: cuts each place of it into stages at the fewest points where everything must wait for a
/// GEMM (the synchronisations of a step), and gives a buffer to every value that is read outside the kernel that makes
/// it. Kernels come without nests (see `fuse`), GEMMs as library calls on matrices as they lie (see `choose_layout`),
/// buffers without offsets (see `place_buffers`).
///
/// Masks: a masked step holds the states, stores 0 to outputs, record and GEMM operands, and adds nothing to sums; what
/// is read from the caller is 0 there, so that NaN in padding reaches no GEMM.
Plan partition_stages(const Sequence& sequence, const PlanOptions& options);

/// Number of dependent GEMMs one step waits for.
int gemm_levels(const TimeLoop& loop);

}  // namespace cellfuse
