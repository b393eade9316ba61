#pragma once

#include <functional>
#include <string>

#include "ir/sequence.h"
#include "tests/support/training_run.h"

namespace cellfuse::testing {

/// The programs of a training call as they are after a pass, at the Cell or at the Sequence level.
struct PassStage {
  std::string name;  ///< of the pass, with the memory mode behind it
  const Cell* forward = nullptr;
  const Cell* backward = nullptr;
  const Sequence* forward_sequence = nullptr;
  const Sequence* backward_sequence = nullptr;
  bool saved = false;  ///< forward hands out the record; before that backward reads the states of each step

  /// `cell` is what the passes were given.
  TrainingRun run(const Cell& cell, const RunArguments& arguments, const Weights& weights) const;
};

/// Runs the passes of the Cell and Sequence levels on a cell whose mode is bound and which has its resets, verifies
/// after each one, and shows what it made: in every memory mode from `choose_saved` on.
void visit_stages(const Cell& cell, const std::function<void(const PassStage&)>& visit);

}  // namespace cellfuse::testing
