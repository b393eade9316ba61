// Passes keep what a program means: outputs, final states and gradients after each one equal those before, for random
// cells with masks, resets and both directions.
#include <doctest/doctest.h>

#include "ir/interpret_cell.h"
#include "passes/add_resets.h"
#include "passes/bind_mode.h"
#include "tests/support/pass_stages.h"
#include "tests/support/random_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr std::uint32_t kCells = 300;
constexpr double kTolerance = 1e-9;

void check_passes(std::uint32_t seed) {
  const Cell cell = add_resets(bind_mode(random_cell(seed), true));
  RandomRun random(seed);
  RunArguments arguments = random.arguments(cell, 4, 3);
  arguments.live = random.flags(12, 0.7);
  arguments.reset = random.flags(12, 0.2);
  arguments.reverse = seed % 3 == 0;
  arguments.seed = seed;
  const Weights weights = random.weights(cell, arguments, seed % 5 != 1, seed % 5 != 2);
  const TrainingRun want{interpret(cell, arguments), gradients(cell, arguments, weights)};
  visit_stages(cell, [&](const PassStage& stage) {
    INFO(stage.name);
    CHECK(scaled_error(stage.run(cell, arguments, weights), want) < kTolerance);
  });
}

}  // namespace

TEST_CASE("passes keep the meaning of random cells") {
  for (std::uint32_t seed = 1; seed <= kCells; ++seed) {
    CAPTURE(seed);
    check_passes(seed);
  }
}
