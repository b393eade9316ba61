#pragma once

#include "tests/support/executable_run.h"
#include "tests/support/zoo.h"

namespace cellfuse::testing {

/// Runs every variant of a case through the public API, and checks it against the golden numbers within the tolerances
/// of the dtype: outputs and final states of both programs, and gradients.
void check_golden(const ZooCell& zoo, const CompileOptions& options);

/// Options of the tests' device, with `memory` and `dtype`, and passes verified.
CompileOptions test_options(DType dtype, MemoryMode memory = MemoryMode::Balanced);

}  // namespace cellfuse::testing
