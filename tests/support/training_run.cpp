#include "tests/support/training_run.h"

#include <algorithm>

#include "frontend/cli/case.h"
#include "ir/interpret_cell.h"
#include "ir/interpret_sequence.h"

namespace cellfuse::testing {

namespace {

double largest_error(const std::vector<Values>& got, const std::vector<Values>& want) {
  if (got.size() != want.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) largest = std::max(largest, cellfuse::scaled_error(got[i], want[i]));
  return largest;
}

}  // namespace

TrainingRun run_training(const Cell& cell, const Runner& forward, const Runner& backward, const RunArguments& arguments,
                         const Weights& weights) {
  TrainingRun result;
  result.forward = forward(arguments);
  result.forward.history.resize(cell.states.size());
  RunArguments of_backward = backward_arguments(cell, arguments, result.forward, weights);
  // Instead of the states before each step, the record comes last.
  const auto inputs = of_backward.inputs.begin() + static_cast<std::ptrdiff_t>(cell.inputs.size());
  of_backward.inputs.erase(inputs, inputs + static_cast<std::ptrdiff_t>(cell.states.size()));
  std::vector<Values>& outputs = result.forward.outputs;
  const auto record = outputs.begin() + static_cast<std::ptrdiff_t>(cell.outputs.size());
  of_backward.inputs.insert(of_backward.inputs.end(), record, outputs.end());
  outputs.erase(record, outputs.end());
  result.gradients = sort_gradients(cell, backward(of_backward));
  return result;
}

TrainingRun run_training(const Cell& cell, const Cell& forward, const Cell& backward, const RunArguments& arguments,
                         const Weights& weights) {
  return run_training(
      cell, [&](const RunArguments& a) { return interpret(forward, a); },
      [&](const RunArguments& a) { return interpret(backward, a); }, arguments, weights);
}

TrainingRun run_training(const Cell& cell, const Sequence& forward, const Sequence& backward,
                         const RunArguments& arguments, const Weights& weights) {
  return run_training(
      cell, [&](const RunArguments& a) { return interpret(forward, a); },
      [&](const RunArguments& a) { return interpret(backward, a); }, arguments, weights);
}

double scaled_error(const TrainingRun& got, const TrainingRun& want) {
  return std::max({largest_error(got.forward.outputs, want.forward.outputs),
                   largest_error(got.forward.finals, want.forward.finals),
                   scaled_error(got.gradients, want.gradients)});
}

}  // namespace cellfuse::testing
