#pragma once

#include "ir/plan.h"

namespace cellfuse {

/// Gives each kernel its loop nests. Elementwise work over the same index space shares a nest, as do reductions along
/// the same axis of it; a value goes through scratch memory only where it must (a reduction, a running sum, a broadcast
/// of computed work) or where computing it twice would cost more. The fewest nests a greedy walk in topological order
/// finds.
Plan fuse(Plan plan);

}  // namespace cellfuse
