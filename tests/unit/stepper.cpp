#include <cstring>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "tests/support/executable_run.h"
#include "tests/support/random_cells.h"
#include "tests/support/tanh_cell.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

CompileOptions float64() {
  CompileOptions options;
  options.dtype = DType::Float64;
  options.device = test_device();
  options.training = false;
  return options;
}

Tensor tensor(const std::vector<std::int64_t>& leading, const Shape& shape) {
  std::vector<std::int64_t> sizes = leading;
  for (int axis = 0; axis < shape.rank(); ++axis) sizes.push_back(shape[axis].size);
  return {DType::Float64, TensorShape(sizes)};
}

/// Walks a sequence step by step, as a caller would.
class Walk {
 public:
  Walk(const Executable& executable, const Cell& cell, const RunArguments& arguments)
      : cell_(cell), arguments_(arguments) {
    for (std::size_t i = 0; i < cell.params.size(); ++i) {
      params_.push_back(tensor({}, cell.params[i].shape));
      params_.back().assign(arguments.params[i]);
      named_params_.push_back({cell.params[i].name, params_.back()});
    }
    stepper_ = executable.prepare(named_params_, arguments.batch);
    for (const CellInput& input : cell.inputs) inputs_.push_back(tensor({arguments.batch}, input.shape));
    for (const CellState& state : cell.states) states_.push_back(tensor({arguments.batch}, state.shape));
    for (const CellOutput& output : cell.outputs) {
      outputs_.push_back(tensor({arguments.batch}, cell.graph[output.node].shape));
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) call_.inputs.push_back({cell.inputs[i].name, inputs_[i]});
    for (std::size_t i = 0; i < states_.size(); ++i) call_.states.push_back({cell.states[i].name, states_[i]});
    for (std::size_t i = 0; i < outputs_.size(); ++i) call_.outputs.push_back({cell.outputs[i].name, outputs_[i]});
  }

  RunResults run() {
    stepper_.start(call_.states);
    for (std::size_t i = 0; i < arguments_.initial.size(); ++i) {
      if (arguments_.initial[i]) states_[i].assign(*arguments_.initial[i]);
    }
    RunResults results;
    results.outputs.resize(outputs_.size());
    const auto batch = static_cast<std::size_t>(arguments_.batch);
    for (std::int64_t t = 0; t < arguments_.steps; ++t) {
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const auto row = static_cast<std::size_t>(inputs_[i].count());
        inputs_[i].assign(std::span(arguments_.inputs[i]).subspan(static_cast<std::size_t>(t) * row, row));
      }
      const std::size_t from = static_cast<std::size_t>(t) * batch;
      if (!arguments_.live.empty()) call_.mask = std::span(arguments_.live).subspan(from, batch);
      if (!arguments_.reset.empty()) call_.reset = std::span(arguments_.reset).subspan(from, batch);
      call_.step = arguments_.first_step + t;
      call_.seed = arguments_.seed;
      call_.offset = arguments_.offset;
      stepper_.step(call_);
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const Values values = outputs_[i].to_doubles();
        results.outputs[i].insert(results.outputs[i].end(), values.begin(), values.end());
      }
    }
    for (const Tensor& state : states_) results.finals.push_back(state.to_doubles());
    return results;
  }

 private:
  const Cell& cell_;
  const RunArguments& arguments_;
  std::vector<Tensor> params_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> states_;
  std::vector<Tensor> outputs_;
  ConstTensors named_params_;
  StepCall call_;
  Stepper stepper_;
};

double error(const RunResults& got, const RunResults& want) {
  return scaled_error(TrainingRun{got, {}}, TrainingRun{want, {}});
}

}  // namespace

TEST_CASE("steps one by one equal the sequence") {
  for (std::uint32_t seed = 1; seed < 25; ++seed) {
    const Cell cell = random_cell(seed);
    RandomRun random(seed);
    RunArguments arguments = random.arguments(cell, 6, seed % 4);
    arguments.seed = seed;
    if (seed % 3 == 0) arguments.initial.clear();
    CAPTURE(seed);
    CHECK(error(Walk(compile(cell, float64()), cell, arguments).run(), expect_forward(cell, arguments)) < 1e-11);
  }
}

TEST_CASE("masks hold, resets start anew") {
  const Cell cell = tanh_cell();
  RandomRun random(5);
  RunArguments arguments = random.arguments(cell, 8, 3);
  arguments.initial.clear();
  arguments.live = random.flags(24, 0.6);
  arguments.reset = random.flags(24, 0.4);
  CHECK(error(Walk(compile(cell, float64()), cell, arguments).run(), expect_forward(cell, arguments)) < 1e-11);
}

TEST_CASE("a reset starts from where the cell starts, not from a state that was put in") {
  const Cell cell = tanh_cell();
  const Executable executable = compile(cell, float64());
  Tensor w = tensor({}, cell.params[0].shape);
  Tensor u = tensor({}, cell.params[1].shape);
  Tensor h0 = tensor({}, cell.params[2].shape);
  u.assign(Values{1, 0, 0, 0, 1, 0, 0, 0, 1});
  h0.fill(0.25);
  Stepper stepper = executable.prepare({{"W", w}, {"U", u}, {"h0", h0}}, 2);
  CHECK(stepper.batch() == 2);
  Tensor x(DType::Float64, {2, 2});
  Tensor h(DType::Float64, {2, 3});
  h.fill(0.5);
  const std::uint8_t reset[] = {0, 1};
  stepper.step({.inputs = {{"x", x}}, .states = {{"h", h}}, .reset = reset});
  CHECK(h.to_doubles()[0] == doctest::Approx(std::tanh(0.5)));
  CHECK(h.to_doubles()[3] == doctest::Approx(std::tanh(0.25)));
}

TEST_CASE("what a wrong step is told") {
  const Cell cell = tanh_cell();
  const Executable executable = compile(cell, float64());
  Tensor w = tensor({}, cell.params[0].shape);
  Tensor u = tensor({}, cell.params[1].shape);
  Tensor h0 = tensor({}, cell.params[2].shape);
  CHECK_THROWS_WITH_AS(static_cast<void>(executable.prepare({{"W", w}, {"U", u}}, 2)),
                       "param `h0` is missing: expected float64 [H] = [3]", UsageError);
  Stepper stepper = executable.prepare({{"W", w}, {"U", u}, {"h0", h0}}, 2);
  Tensor x(DType::Float64, {2, 2});
  Tensor h(DType::Float64, {2, 3});
  Tensor wide(DType::Float64, {2, 4});
  CHECK_THROWS_WITH_AS(stepper.step({.inputs = {{"x", wide}}, .states = {{"h", h}}}),
                       "input `x`: expected [batch, I] = [2, 2], got [2, 4]", UsageError);
  CHECK_THROWS_WITH_AS(stepper.step({.inputs = {{"x", x}}}),
                       "state `h` is missing: expected float64 [batch, H] = [2, 3]", UsageError);
  CHECK_THROWS_WITH_AS(stepper.step({.inputs = {{"x", x}}, .states = {{"h", h}}, .outputs = {{"y", h}}}),
                       "there is no output `y`; this cell has `h`", UsageError);
  const std::uint8_t mask[] = {1};
  CHECK_THROWS_WITH_AS(stepper.step({.inputs = {{"x", x}}, .states = {{"h", h}}, .mask = mask}),
                       "mask: expected one for each of 2 samples, got 1", UsageError);
}
