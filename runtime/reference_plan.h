#pragma once

#include <memory>

#include "runtime/backend.h"

namespace cellfuse {

/// A plan run by its float64 interpreter: slow, and what the other devices are compared with.
std::unique_ptr<LoadedPlan> load_reference(const Plan& plan, const Resources& resources);

}  // namespace cellfuse
