// At least 500 random cells as text, compiled and run in odd shapes with random masks, resets, directions and seeds,
// forward and backward, against the interpreter of cells. CELLFUSE_SEED=n runs the n-th alone; CELLFUSE_CELLS=n runs n.
#include <cstdlib>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "tests/support/random_text.h"
#include "tests/support/zoo_run.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr double kTolerance = 1e-8;

std::uint32_t number(const char* variable, std::uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

template <typename T>
T pick(std::uint32_t choice, std::initializer_list<T> values) {
  return values.begin()[choice % values.size()];
}

CompileOptions random_options(std::uint32_t seed) {
  CompileOptions options =
      test_options(DType::Float64, pick(seed, {MemoryMode::Fast, MemoryMode::Balanced, MemoryMode::Small}));
  options.threads = pick(seed / 2, {1, 2, 3});
  options.workspace_limit = pick<std::int64_t>(seed / 3, {1, 3000, 1 << 28});
  options.fusion = seed % 11 != 0;
  options.hoisting = seed % 13 != 0;
  options.gemm_combining = seed % 7 != 0;
  options.layout = seed % 5 != 0;
  return options;
}

RunArguments random_arguments(const Cell& cell, std::uint32_t seed, RandomRun& random) {
  const std::int64_t steps = pick<std::int64_t>(seed, {7, 2, 1, 7, 0});
  const std::int64_t batch = pick<std::int64_t>(seed / 5, {5, 1, 17});
  RunArguments arguments = random.arguments(cell, steps, batch);
  if (seed % 4 != 0) arguments.live = random.flags(steps * batch, 0.7);
  if (seed % 3 != 0) arguments.reset = random.flags(steps * batch, 0.2);
  for (std::size_t i = 0; i < arguments.live.size() && !arguments.reset.empty(); ++i) {
    if (arguments.live[i] == 0) arguments.reset[i] = 0;
  }
  if (seed % 3 == 1) arguments.initial.clear();
  arguments.reverse = seed % 2 == 0;
  arguments.first_step = seed % 5;
  arguments.first_sample = seed % 3;
  arguments.seed = seed;
  arguments.offset = seed / 3;
  return arguments;
}

void check_cell(std::uint32_t seed) {
  const std::string text = random_cell_text(seed);
  CAPTURE(seed);
  CAPTURE(text);
  const DimBinding dims = {{"I", pick<std::int64_t>(seed / 7, {2, 1, 5})},
                           {"H", pick<std::int64_t>(seed, {3, 1, 33})},
                           {"K", pick<std::int64_t>(seed / 11, {2, 3, 1})}};
  const Cell cell = testing::cell_from_text(text, dims);
  RandomRun random(seed);
  const RunArguments arguments = random_arguments(cell, seed, random);
  const Weights weights = random.weights(cell, arguments, seed % 5 != 1, seed % 5 != 2);
  const Arrangement arrangement{seed % 2 == 1, seed % 3 == 0 ? 2 : 0};
  const Executable executable = compile(cell, random_options(seed));
  const TrainingRun inference{run_forward(executable, cell, arguments, arrangement), {}};
  CHECK(scaled_error(inference, TrainingRun{expect_forward(cell, arguments), {}}) < kTolerance);
  CHECK(scaled_error(run_training(executable, cell, arguments, weights, arrangement),
                     expect_training(cell, arguments, weights)) < kTolerance);
}

}  // namespace

TEST_CASE("random cells") {
  const std::uint32_t first = number("CELLFUSE_SEED", 1);
  const std::uint32_t count = number("CELLFUSE_CELLS", std::getenv("CELLFUSE_SEED") != nullptr ? 1 : 500);
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    try {
      check_cell(seed);
    } catch (const std::exception& error) {
      FAIL_CHECK("seed " << seed << ": " << error.what() << "\n" << random_cell_text(seed));
    }
  }
}
