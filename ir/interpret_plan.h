#pragma once

#include "ir/plan.h"
#include "ir/run_data.h"

namespace cellfuse {

/// Runs a plan in float64, stage by stage, with its buffers where place_buffers put them: what a plan means, and a
/// check that no buffer is overwritten too early. `arguments` and the results are those of `interpret` for the plan's
/// interface, record fields among inputs and outputs; `history` stays empty. The steps run in chunks of `chunk_steps`
/// (0: all at once), all samples as one group.
RunResults interpret(const Plan& plan, const RunArguments& arguments, std::int64_t chunk_steps = 0);

}  // namespace cellfuse
