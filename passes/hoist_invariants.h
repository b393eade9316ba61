#pragma once

#include "ir/sequence.h"

namespace cellfuse {

/// Puts work on parameters and per-sample values alone before the loop, once a call, and says which work that is.
Sequence hoist_invariants(const Sequence& sequence);

}  // namespace cellfuse
