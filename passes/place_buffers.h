#pragma once

#include "ir/plan.h"

namespace cellfuse {

/// Finds when each buffer is in use and gives workspace and scratch buffers offsets in one arena a class (see Arena),
/// so that buffers in use at the same time never overlap: first fit over lifetimes, in order of size.
Plan place_buffers(Plan plan);

}  // namespace cellfuse
