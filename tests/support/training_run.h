#pragma once

#include <functional>

#include "ir/sequence.h"
#include "tests/support/gradients.h"

namespace cellfuse::testing {

/// What a forward and a backward program give together: results of the user's outputs, and gradients.
struct TrainingRun {
  RunResults forward;
  Gradients gradients;
};

/// Runs a forward program whose last outputs are the record, and the backward program whose last inputs are it. `cell`
/// is the cell that was differentiated.
TrainingRun run_training(const Cell& cell, const Cell& forward, const Cell& backward, const RunArguments& arguments,
                         const Weights& weights);
/// The same for programs that `forward` and `backward` run.
using Runner = std::function<RunResults(const RunArguments&)>;
TrainingRun run_training(const Cell& cell, const Runner& forward, const Runner& backward, const RunArguments& arguments,
                         const Weights& weights);
TrainingRun run_training(const Cell& cell, const Sequence& forward, const Sequence& backward,
                         const RunArguments& arguments, const Weights& weights);

/// Largest scaled error of outputs and final states, and of gradients. NaN equals NaN.
double scaled_error(const TrainingRun& got, const TrainingRun& want);

}  // namespace cellfuse::testing
