#pragma once

#include "ir/plan.h"
#include "passes/plan_options.h"

namespace cellfuse {

/// Lists the ways each loop could run, with what the model expects of each and why some do not apply, and takes the
/// cheapest that does. Also states the floor: what no plan for this target can beat.
Plan choose_strategy(Plan plan, const PlanOptions& options);

}  // namespace cellfuse
