#pragma once

#include "ir/plan.h"
#include "passes/gemm_costs.h"
#include "passes/plan_options.h"

namespace cellfuse {

/// Decides for each GEMM whether a library runs it or emitted code does, and the layout of its matrix: as it lies,
/// transposed, or packed in panels, whichever the costs say is fastest for a typical number of rows. A matrix that is
/// not as its GEMM wants it is packed once a call. Matrices stored in 16 bits are widened on the way.
Plan choose_layout(Plan plan, const PlanOptions& options, const GemmCosts& costs);

/// Samples of one batch group, and steps of one chunk, that costs are compared for, since both stay open in a plan.
inline constexpr std::int64_t kTypicalSamples = 16;
inline constexpr std::int64_t kTypicalSteps = 64;

}  // namespace cellfuse
