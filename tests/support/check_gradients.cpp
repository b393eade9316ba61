#include "tests/support/check_gradients.h"

#include <limits>

#include <doctest/doctest.h>

#include "ir/interpret_cell.h"
#include "passes/differentiate.h"

namespace cellfuse::testing {

namespace {

void poison_masked_steps(const Cell& cell, RunArguments& arguments) {
  for (std::size_t i = 0; i < cell.inputs.size(); ++i) {
    if (cell.inputs[i].role == InputRole::Reset) continue;
    const auto count = static_cast<std::size_t>(cell.inputs[i].shape.count());
    for (std::size_t place = 0; place < arguments.live.size(); ++place) {
      if (arguments.live[place] != 0) continue;
      for (std::size_t k = 0; k < count; ++k) {
        arguments.inputs[i][place * count + k] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
}

}  // namespace

void check_gradients(const Cell& cell, const RunArguments& given, RandomRun& random, bool twice) {
  verify(cell);
  RunArguments arguments = given;
  poison_masked_steps(cell, arguments);
  const Weights weights = random.weights(cell, arguments, true, true);

  const Gradients once = gradients(cell, arguments, weights);
  auto value = [&](const RunArguments& moved) { return loss(interpret(cell, moved), weights); };
  CHECK(scaled_error(once, differences(arguments, once, value, 1e-6)) < 1e-7);
  if (!twice) return;

  const Gradients directions = random.directions(once);
  const Cell derivative = differentiate(cell);
  auto gradient_value = [&](const RunArguments& moved) {
    return dot(gradients(cell, derivative, moved, weights), directions);
  };
  const Gradients again = double_gradients(cell, arguments, weights, directions);
  CHECK(scaled_error(again, differences(arguments, again, gradient_value, 1e-5)) < 1e-6);
}

}  // namespace cellfuse::testing
