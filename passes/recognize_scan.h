#pragma once

#include "ir/sequence.h"

namespace cellfuse {

/// Sets Loop::has_gemm and Loop::linear: without a product with a matrix in the step each unit walks time by itself,
/// and where every next state is `a * state + b`, elementwise, with `a` and `b` free of the states of the loop, the
/// steps can be walked in parallel.
Sequence recognize_scan(const Sequence& sequence);

}  // namespace cellfuse
