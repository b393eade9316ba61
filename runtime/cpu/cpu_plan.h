#pragma once

#include <memory>

#include "runtime/backend.h"

namespace cellfuse::cpu {

/// Compiles the plan for this processor. `plan` must outlive the result.
std::unique_ptr<LoadedPlan> load(const Plan& plan, const Resources& resources);

}  // namespace cellfuse::cpu
