#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/plan.h"
#include "ir/sequence.h"
#include "passes/choose_saved.h"
#include "runtime/compile.h"

namespace cellfuse {

/// One program at all three levels.
struct LoweredProgram {
  Cell cell;
  Sequence sequence;
  Plan plan;
};

/// Where the gradients of a cell are in its derivative; -1: not computed.
struct GradientMap {
  std::vector<int> inputs;        ///< by input of the forward cell: output of the derivative
  std::vector<int> params;        ///< by param: result
  std::vector<int> states;        ///< by state: result, the gradient of the initial value
  std::vector<int> output_grads;  ///< by output of the user's cell: input of the derivative
};

/// What the passes made of a cell.
struct LoweredCell {
  Cell source;  ///< as it was given
  std::optional<LoweredProgram> inference;
  std::optional<LoweredProgram> forward;
  std::optional<LoweredProgram> backward;
  GradientMap gradients;
  std::vector<SavedValue> saved;
  std::vector<RecomputedValue> recomputed;
  std::vector<PassTime> times;
};

/// Runs the passes. `options` are complete: no field is left to a default. Throws CompileError.
LoweredCell lower(const Cell& cell, const CompileOptions& options, const Target& target);

/// Positions by the order that `differentiate` promises, of the gradients `wanted` (names of inputs, params and states;
/// all where there is none); the others are taken out of `derivative`. Throws CompileError for a name without gradient.
GradientMap select_gradients(const Cell& forward, Cell& derivative,
                             const std::optional<std::vector<std::string>>& wanted);

}  // namespace cellfuse
