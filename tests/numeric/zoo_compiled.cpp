// The published cells as compiled code, in float64: golden numbers in every memory mode, unfused too; and what the
// golden numbers leave out against the interpreter of cells.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tests/support/zoo_run.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr double kTolerance = 1e-9;

/// A case with everything at once: holes, an empty sample, resets, reverse, numbers of steps and samples.
RunArguments all_at_once(const ZooCell& zoo, unsigned seed) {
  const auto& variants = zoo.test.variants;
  const auto with_reset =
      std::find_if(variants.begin(), variants.end(), [](const auto& v) { return v.name == "reset"; });
  REQUIRE(with_reset != variants.end());
  RunArguments arguments = run_arguments(zoo.test, *with_reset, zoo.cell);
  REQUIRE(arguments.steps == 4);
  REQUIRE(arguments.batch == 2);
  constexpr std::uint8_t kMasks[][8] = {{1, 1, 0, 1, 1, 1, 1, 0}, {1, 0, 1, 0, 0, 0, 1, 0}, {0, 1, 1, 1, 1, 0, 1, 1}};
  const auto& mask = kMasks[seed % 3];
  arguments.live.assign(std::begin(mask), std::end(mask));
  arguments.reset = {0, 1, 1, 0, 1, 0, 0, 1};
  for (std::size_t i = 0; i < 8; ++i) arguments.reset[i] = arguments.reset[i] != 0 && mask[i] != 0 ? 1 : 0;
  arguments.reverse = seed % 2 == 0;
  arguments.first_step = seed;
  arguments.first_sample = 3;
  arguments.seed = seed;
  arguments.offset = 7;
  if (seed % 4 == 1) arguments.initial.clear();
  // What lies at masked steps must reach nothing.
  for (std::size_t i = 0; i < zoo.cell.inputs.size(); ++i) {
    const auto count = static_cast<std::size_t>(zoo.cell.inputs[i].shape.count());
    for (std::size_t place = 0; place < 8; ++place) {
      if (mask[place] != 0) continue;
      for (std::size_t k = 0; k < count; ++k) arguments.inputs[i][place * count + k] = std::nan("");
    }
  }
  return arguments;
}

}  // namespace

TEST_CASE("golden numbers in every memory mode") {
  for (const std::string& name : zoo_names()) {
    CAPTURE(name);
    const ZooCell zoo = zoo_cell(name);
    for (const MemoryMode memory : {MemoryMode::Fast, MemoryMode::Balanced, MemoryMode::Small}) {
      CAPTURE(cellfuse::name(memory));
      check_golden(zoo, test_options(DType::Float64, memory));
    }
  }
}

TEST_CASE("golden numbers without any optimisation") {
  for (const std::string& name : zoo_names()) {
    CAPTURE(name);
    check_golden(zoo_cell(name), unfused(test_options(DType::Float64)));
  }
}

TEST_CASE("holes, resets, reverse, seeds, learned starts and final states, against the interpreter") {
  unsigned seed = 0;
  for (const std::string& name : zoo_names()) {
    CAPTURE(name);
    const ZooCell zoo = zoo_cell(name);
    const RunArguments arguments = all_at_once(zoo, ++seed);
    RandomRun random(seed);
    const Weights both = random.weights(zoo.cell, arguments, true, true);
    const Weights finals = random.weights(zoo.cell, arguments, false, true);
    CompileOptions options = test_options(DType::Float64);
    options.workspace_limit = 2000;
    const Executable executable = compile(zoo.cell, options);
    const RunResults inference = run_forward(executable, zoo.cell, arguments, {seed % 3 == 0, seed % 2});
    CHECK(scaled_error(TrainingRun{inference, {}}, TrainingRun{expect_forward(zoo.cell, arguments), {}}) < kTolerance);
    for (const Weights& weights : {both, finals}) {
      CHECK(scaled_error(run_training(executable, zoo.cell, arguments, weights),
                         expect_training(zoo.cell, arguments, weights)) < kTolerance);
    }
  }
}

TEST_CASE("a subset of the gradients") {
  for (const std::string& name : zoo_names()) {
    CAPTURE(name);
    const ZooCell zoo = zoo_cell(name);
    const RunArguments arguments = run_arguments(zoo.test, zoo.test.variants.front(), zoo.cell);
    const Weights weights = RandomRun(1).weights(zoo.cell, arguments, true, true);
    const TrainingRun want = expect_training(zoo.cell, arguments, weights);
    for (std::size_t i = 0; i < zoo.cell.params.size(); i += 3) {
      if (!zoo.cell.params[i].trained) continue;
      CompileOptions options = test_options(DType::Float64);
      options.inference = false;
      options.gradients = {zoo.cell.params[i].name};
      const TrainingRun got =
          run_training(compile(zoo.cell, options), zoo.cell, arguments, weights, {}, options.gradients);
      CHECK(cellfuse::scaled_error(got.gradients.params[i], want.gradients.params[i]) < kTolerance);
    }
  }
}
