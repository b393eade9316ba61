#pragma once

#include "tests/support/gradients.h"

namespace cellfuse::testing {

/// Compares the gradients of a random loss of a run, and the gradients of a random loss of those, with central
/// differences. Masked steps of `given` are filled with NaN first, which must reach nothing.
void check_gradients(const Cell& cell, const RunArguments& given, RandomRun& random, bool twice = true);

}  // namespace cellfuse::testing
