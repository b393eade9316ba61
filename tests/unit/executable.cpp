#include "runtime/executable.h"

#include <cmath>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "tests/support/executable_run.h"
#include "tests/support/random_cells.h"
#include "tests/support/tanh_cell.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr double kTolerance = 1e-11;

CompileOptions float64() {
  CompileOptions options;
  options.dtype = DType::Float64;
  options.device = test_device();
  return options;
}

/// Arguments of the tanh cell.
RunArguments tanh_arguments(std::int64_t steps, std::int64_t batch, unsigned seed = 1) {
  return RandomRun(seed).arguments(tanh_cell(), steps, batch);
}

double error(const RunResults& got, const RunResults& want) {
  return scaled_error(TrainingRun{got, {}}, TrainingRun{want, {}});
}

}  // namespace

TEST_CASE("any number of steps and samples, any arrangement") {
  const Cell cell = tanh_cell();
  const Executable executable = compile(cell, float64());
  for (const std::int64_t steps : {0, 1, 2, 9}) {
    for (const std::int64_t batch : {0, 1, 6}) {
      for (const Arrangement arrangement :
           {Arrangement{}, Arrangement{true, 0}, Arrangement{false, 3}, Arrangement{true, 1}}) {
        const RunArguments arguments = tanh_arguments(steps, batch);
        CHECK(error(run_forward(executable, cell, arguments, arrangement), expect_forward(cell, arguments)) <
              kTolerance);
      }
    }
  }
  CHECK(executable.compilations() == 1);
}

TEST_CASE("a workspace for a single step gives what one for all steps gives") {
  const Cell cell = tanh_cell();
  CompileOptions options = float64();
  const Executable whole = compile(cell, options);
  options.workspace_limit = 1;
  const Executable stepwise = compile(cell, options);
  RunArguments arguments = tanh_arguments(7, 3);
  RandomRun random(2);
  arguments.live = random.flags(21, 0.6);
  const Weights weights = random.weights(cell, arguments, true, true);
  CHECK(scaled_error(run_training(stepwise, cell, arguments, weights), run_training(whole, cell, arguments, weights)) <
        kTolerance);
}

TEST_CASE("dimensions are bound by the first call") {
  const Executable executable = compile(tanh_template(), float64());
  CHECK_FALSE(executable.bound());
  CHECK(executable.compilations() == 0);
  CHECK_THROWS_WITH_AS(executable.interface(), "cell `rnn` has open dimensions: the first call binds them", UsageError);
  for (int round = 0; round < 3; ++round) {
    const RunArguments arguments = tanh_arguments(2 + round, 1 + round);
    CHECK(error(run_forward(executable, tanh_cell(), arguments), expect_forward(tanh_cell(), arguments)) < kTolerance);
    CHECK(executable.compilations() == 1);
  }
  CHECK(executable.interface().dims == DimBinding{{"H", 3}, {"I", 2}});
  const Cell larger = tanh_cell(4, 5);
  const RunArguments arguments = RandomRun(1).arguments(larger, 2, 2);
  CHECK(error(run_forward(executable, larger, arguments), expect_forward(larger, arguments)) < kTolerance);
  CHECK(executable.compilations() == 2);
  CHECK_THROWS_AS(executable.interface(), UsageError);
}

TEST_CASE("dimensions that no tensor shows") {
  CellTemplate cell = tanh_template();
  const Executable executable = compile(cell, float64());
  CHECK_THROWS_WITH_AS(executable.forward({}),
                       doctest::Contains("no tensor of the call shows what I, H of cell `rnn` is"), UsageError);
  cell.params[0].shape = {Dim(4) * Dim::symbol("H"), Dim::symbol("I")};
  Tensor w(DType::Float64, {6, 2});
  CHECK_THROWS_WITH_AS(compile(cell, float64()).forward({.params = {{"W", w}}}), "param `W`: no H makes 4*H equal to 6",
                       UsageError);
}

TEST_CASE("dimensions that a call to compile gives stay") {
  CompileOptions options = float64();
  options.dims = {{"H", 3}};
  const Executable executable = compile(tanh_template(), options);
  const RunArguments arguments = tanh_arguments(2, 2);
  CHECK(error(run_forward(executable, tanh_cell(), arguments), expect_forward(tanh_cell(), arguments)) < kTolerance);
  const Cell larger = tanh_cell(2, 5);
  CHECK_THROWS_AS(run_forward(executable, larger, RandomRun(1).arguments(larger, 2, 2)), UsageError);
}

TEST_CASE("gradients that nobody gives are 0, those nobody wants are dropped, params may be added to") {
  const Cell cell = tanh_cell();
  const Executable executable = compile(cell, float64());
  const RunArguments arguments = tanh_arguments(3, 2);
  RandomRun random(3);
  const Weights weights = random.weights(cell, arguments, false, true);
  const TrainingRun all = run_training(executable, cell, arguments, weights);

  Tensor x(DType::Float64, {3, 2, 2});
  x.assign(arguments.inputs[0]);
  std::vector<Tensor> params;
  ForwardCall call{.inputs = {{"x", x}}};
  for (std::size_t i = 0; i < cell.params.size(); ++i) {
    const Shape& shape = cell.params[i].shape;
    params.push_back(shape.rank() == 1 ? Tensor(DType::Float64, {shape[0].size})
                                       : Tensor(DType::Float64, {shape[0].size, shape[1].size}));
    params.back().assign(arguments.params[i]);
    call.params.push_back({cell.params[i].name, params.back()});
  }
  Tensor h(DType::Float64, {2, 3});
  h.assign(*arguments.initial[0]);
  call.initial = {{"h", h}};
  call.finals = {{"h", h}};  // in place: the record has a copy of what was there
  Record record = executable.forward_training(call);
  Tensor dh(DType::Float64, {2, 3});
  dh.assign(weights.finals[0]);
  Tensor du(DType::Float64, {3, 3});
  du.fill(10);
  executable.backward(std::move(record), {.finals = {{"h", dh}}, .params = {{"U", du}}, .accumulate = true});
  Values expected = all.gradients.params[1];
  for (double& value : expected) value += 10;
  const Values got = du.to_doubles();
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::fabs(got[i] - expected[i]) < 1e-12);
}

TEST_CASE("a learned start has a gradient when no initial state was given, and none otherwise") {
  const Cell cell = tanh_cell();
  const Executable executable = compile(cell, float64());
  RunArguments arguments = tanh_arguments(3, 2);
  const Weights weights = RandomRun(4).weights(cell, arguments, true, false);
  TrainingRun run = run_training(executable, cell, arguments, weights);
  CHECK(run.gradients.params[2] == Values(3, 0.0));
  CHECK(run.gradients.initial[0] != Values(6, 0.0));
  arguments.initial.clear();
  run = run_training(executable, cell, arguments, weights);
  CHECK(run.gradients.params[2] != Values(3, 0.0));
  CHECK(run.gradients.initial[0] == Values(6, 0.0));
}

TEST_CASE("chunks of a sequence with the state carried over equal the whole") {
  for (std::uint32_t seed = 1; seed < 12; ++seed) {
    const Cell cell = random_cell(seed);
    const Executable executable = compile(cell, float64());
    RandomRun random(seed);
    const RunArguments whole = random.arguments(cell, 5, 2);
    const RunResults want = run_forward(executable, cell, whole);
    RunArguments part = whole;
    RunResults got;
    for (std::int64_t first = 0; first < 5; first += 2) {
      part.steps = std::min<std::int64_t>(2, 5 - first);
      part.first_step = whole.first_step + first;
      for (std::size_t i = 0; i < cell.inputs.size(); ++i) {
        const auto row = static_cast<std::ptrdiff_t>(2 * cell.inputs[i].shape.count());
        const auto from = whole.inputs[i].begin() + static_cast<std::ptrdiff_t>(first) * row;
        part.inputs[i].assign(from, from + static_cast<std::ptrdiff_t>(part.steps) * row);
      }
      RunResults results = run_forward(executable, cell, part);
      part.initial.assign(results.finals.begin(), results.finals.end());
      got.outputs.resize(results.outputs.size());
      for (std::size_t i = 0; i < results.outputs.size(); ++i) {
        got.outputs[i].insert(got.outputs[i].end(), results.outputs[i].begin(), results.outputs[i].end());
      }
      got.finals = std::move(results.finals);
    }
    CAPTURE(seed);
    CHECK(error(got, want) < kTolerance);
  }
}

TEST_CASE("what a call takes is known before it runs") {
  const Executable executable = compile(tanh_cell(), float64());
  const RunArguments arguments = tanh_arguments(4, 5);
  Tensor x(DType::Float64, {4, 5, 2});
  Tensor w(DType::Float64, {3, 2});
  Tensor u(DType::Float64, {3, 3});
  Tensor h0(DType::Float64, {3});
  const Record record = executable.forward_training({.inputs = {{"x", x}}, .params = {{"W", w}, {"U", u}, {"h0", h0}}});
  CHECK(executable.memory(4, 5, true).record == record.bytes());
  CHECK(executable.memory(4, 5, false).record == 0);
  const MemoryUse longer = executable.memory(1 << 20, 5, false);
  CHECK(longer.workspace <= (std::int64_t{256} << 20) + 4096);
}

TEST_CASE("every picture of every program") {
  const Executable executable = compile(tanh_cell(), float64());
  for (const ProgramKind kind : {ProgramKind::Inference, ProgramKind::Forward, ProgramKind::Backward}) {
    for (const Picture picture : {Picture::Cell, Picture::Sequence, Picture::Plan}) {
      CHECK_FALSE(executable.text(kind, picture).empty());
    }
  }
  CHECK(executable.compile_times().find("choose_saved") != std::string::npos);
  CHECK(picture_from_name("plan") == Picture::Plan);
  CHECK_FALSE(picture_from_name("cuda"));
}
