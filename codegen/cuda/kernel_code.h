#pragma once

#include "codegen/cuda/unit.h"
#include "codegen/cuda/writer.h"

namespace cellfuse::cuda {

/// Emits a kernel and says how to launch it.
Launch emit_kernel(KernelFrame& frame, Writer& out);

}  // namespace cellfuse::cuda
