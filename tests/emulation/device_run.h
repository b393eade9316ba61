#pragma once

#include "codegen/cuda/emit.h"
#include "ir/run_data.h"
#include "tests/emulation/emulator.h"

namespace cellfuse::emulation {

/// How a program is run.
struct RunOptions {
  std::int64_t chunk_steps = 0;  ///< 0: all at once
  std::int64_t segments = 1;
  std::int64_t scratch_blocks = 2;
  bool scattered = false;  ///< tensors of the caller begin one element off and have gaps between rows
  Schedule schedule;
};

/// Runs an emitted plan on the emulated machine as a runtime would: fills the table, launches what the source says,
/// does the matrix products itself. Arguments and results are those of `interpret` for the plan. Throws EmulationError.
RunResults run(const Plan& plan, const cuda::CudaSource& source, const RunArguments& arguments,
               const RunOptions& options);

}  // namespace cellfuse::emulation
