#pragma once

#include "ir/run_data.h"
#include "ir/sequence.h"

namespace cellfuse {

/// Runs a sequence in float64, phase by phase: what is before or after a loop is computed for all steps at once, from
/// values of all steps. Gives what `interpret` of its cell gives (see `ir/interpret_cell.h` for masks and order).
RunResults interpret(const Sequence& sequence, const RunArguments& arguments);

}  // namespace cellfuse
