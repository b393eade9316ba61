#pragma once

#include "runtime/compile.h"
#include "tests/support/training_run.h"

namespace cellfuse::testing {

/// The device that tests compile for: what this build has.
inline const char* test_device() { return CELLFUSE_CPU_JIT ? "cpu" : "reference"; }

/// How the tensors of a call lie in memory.
struct Arrangement {
  bool batch_major = false;
  std::int64_t gap = 0;  ///< elements between neighbours in time and batch, filled with NaN
};

/// Runs `forward` of an executable for `cell` (as the user wrote it, without a reset input), with every output and
/// final state asked for. Elements of gaps that were written fail a check of doctest.
RunResults run_forward(const Executable& executable, const Cell& cell, const RunArguments& arguments,
                       const Arrangement& arrangement = {});

/// Runs `forward_training` and `backward`. Gradients that the cell does not have, or that are not among those `wanted`,
/// are empty.
TrainingRun run_training(const Executable& executable, const Cell& cell, const RunArguments& arguments,
                         const Weights& weights, const Arrangement& arrangement = {},
                         const std::optional<std::vector<std::string>>& wanted = {});

/// What the interpreter of cells says, for a cell without a reset input and a training or an inference call.
RunResults expect_forward(const Cell& cell, const RunArguments& arguments);
TrainingRun expect_training(const Cell& cell, const RunArguments& arguments, const Weights& weights);

}  // namespace cellfuse::testing
