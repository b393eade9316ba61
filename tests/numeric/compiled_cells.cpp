// Random cells through the public API, forward and backward, against the interpreter of cells: odd shapes, masks with
// holes, resets, both directions, strides, seeds, small workspaces.
#include <cstdlib>

#include <doctest/doctest.h>

#include "tests/support/executable_run.h"
#include "tests/support/random_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr std::uint32_t kCells = 120;
constexpr double kTolerance = 1e-9;

template <typename T>
T pick(std::uint32_t seed, std::initializer_list<T> choices) {
  return choices.begin()[seed % choices.size()];
}

CompileOptions options_for(std::uint32_t seed) {
  CompileOptions options;
  options.device = test_device();
  options.dtype = DType::Float64;
  options.memory = pick(seed, {MemoryMode::Fast, MemoryMode::Balanced, MemoryMode::Small});
  options.threads = pick(seed / 3, {1, 2, 3});
  options.workspace_limit = pick(seed / 2, {std::int64_t{1}, std::int64_t{4000}, std::int64_t{1} << 28});
  options.debugging.verify = true;
  return seed % 7 == 0 ? unfused(options) : options;
}

RunArguments arguments_for(const Cell& cell, std::uint32_t seed, RandomRun& random) {
  const std::int64_t steps = pick<std::int64_t>(seed, {7, 2, 1, 0, 5});
  const std::int64_t batch = pick<std::int64_t>(seed / 5, {5, 1, 3, 0, 17});
  RunArguments arguments = random.arguments(cell, steps, batch);
  if (seed % 4 != 0) arguments.live = random.flags(steps * batch, 0.7);
  if (seed % 3 != 0) arguments.reset = random.flags(steps * batch, 0.2);
  for (std::size_t i = 0; i < arguments.live.size(); ++i) {
    if (arguments.live[i] == 0 && !arguments.reset.empty()) arguments.reset[i] = 0;
  }
  if (seed % 5 == 0) arguments.initial.clear();
  arguments.reverse = seed % 2 == 0;
  arguments.first_step = seed % 11;
  arguments.first_sample = seed % 13;
  arguments.seed = seed;
  arguments.offset = seed / 2;
  arguments.layer = seed % 3;
  arguments.direction = seed % 2;
  return arguments;
}

void check_cell(std::uint32_t seed) {
  const Cell cell = random_cell(seed);
  RandomRun random(seed);
  const RunArguments arguments = arguments_for(cell, seed, random);
  const Weights weights = random.weights(cell, arguments, seed % 5 != 1, seed % 5 != 2);
  const Arrangement arrangement{seed % 2 == 1, seed % 3 == 0 ? 5 : 0};
  const Executable executable = compile(cell, options_for(seed));
  TrainingRun inference;
  TrainingRun expected;
  inference.forward = run_forward(executable, cell, arguments, arrangement);
  expected.forward = expect_forward(cell, arguments);
  CHECK(scaled_error(inference, expected) < kTolerance);
  CHECK(scaled_error(run_training(executable, cell, arguments, weights, arrangement),
                     expect_training(cell, arguments, weights)) < kTolerance);
}

}  // namespace

TEST_CASE("compiled random cells") {
  const char* only = std::getenv("CELLFUSE_SEED");
  const std::uint32_t first = only != nullptr ? static_cast<std::uint32_t>(std::atoi(only)) : 1;
  for (std::uint32_t seed = first; seed < first + (only != nullptr ? 1 : kCells); ++seed) {
    CAPTURE(seed);
    check_cell(seed);
  }
}
