#pragma once

#include "ir/dtype.h"
#include "ir/target.h"

namespace cellfuse {

/// What the passes that make a Plan may decide, and for what machine.
struct PlanOptions {
  DType dtype = DType::Float32;
  Target target;
  bool fuse = true;    ///< off: one kernel an operation, every value through memory
  bool layout = true;  ///< off: every GEMM is a library call on matrices as the caller stores them
  bool scan = true;    ///< off: a loop without a GEMM runs stepwise too
};

}  // namespace cellfuse
