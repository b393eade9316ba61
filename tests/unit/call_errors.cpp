// What a wrong call is told.
#include <string>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "tests/support/executable_run.h"
#include "tests/support/tanh_cell.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

/// A good call of the tanh cell with 4 steps of 5 samples; tests spoil it.
struct Fixture {
  CompileOptions options = [] {
    CompileOptions options;
    options.device = test_device();
    return options;
  }();
  Executable executable = compile(tanh_cell(), options);
  Tensor x{DType::Float32, {4, 5, 2}};
  Tensor w{DType::Float32, {3, 2}};
  Tensor u{DType::Float32, {3, 3}};
  Tensor h0{DType::Float32, {3}};
  Tensor y{DType::Float32, {4, 5, 3}};
  Tensor last{DType::Float32, {5, 3}};
  ForwardCall call{
      .inputs = {{"x", x}}, .params = {{"W", w}, {"U", u}, {"h0", h0}}, .outputs = {{"h", y}}, .finals = {{"h", last}}};

  std::string message() const {
    try {
      executable.forward(call);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing thrown";
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a good call") { CHECK(message() == "nothing thrown"); }

TEST_CASE_FIXTURE(Fixture, "shapes") {
  Tensor wide(DType::Float32, {4, 5, 3});
  call.inputs = {{"x", wide}};
  CHECK(message() == "input `x`: expected [time, batch, I] = [any, any, 2], got [4, 5, 3]");
  call.sequence.batch_major = true;
  call.sequence.batch = 4;
  CHECK(message() == "input `x`: expected [batch, time, I] = [4, any, 2], got [4, 5, 3]");
}

TEST_CASE_FIXTURE(Fixture, "tensors that disagree about steps and samples") {
  Tensor shorter(DType::Float32, {3, 5, 3});
  call.outputs = {{"h", shorter}};
  CHECK(message() == "output `h`: time is 3, but input `x` says 4");
  Tensor fewer(DType::Float32, {4, 3});
  call.outputs = {};
  call.finals = {{"h", fewer}};
  CHECK(message() == "final state `h`: batch is 4, but input `x` says 5");
  call.finals = {};
  call.sequence.steps = 9;
  CHECK(message() == "input `x`: time is 4, but argument `steps` says 9");
  const std::int64_t lengths[] = {1, 2};
  call.sequence.steps = {};
  call.sequence.lengths = lengths;
  CHECK(message() == "input `x`: batch is 5, but argument `lengths` says 2");
}

TEST_CASE_FIXTURE(Fixture, "names") {
  call.inputs.push_back({"z", x});
  CHECK(message() == "there is no input `z`; this cell has `x`");
  call.inputs = {{"x", x}, {"x", x}};
  CHECK(message() == "input `x` is given twice");
  call.inputs = {};
  CHECK(message() == "input `x` is missing: expected float32 [time, batch, I] = [any, any, 2]");
  call.inputs = {{"x", x}};
  call.params.pop_back();
  CHECK(message() == "param `h0` is missing: expected float32 [H] = [3]");
}

TEST_CASE_FIXTURE(Fixture, "dtypes") {
  Tensor doubles(DType::Float64, {4, 5, 2});
  call.inputs = {{"x", doubles}};
  CHECK(message() == "input `x`: expected float32, got float64");
}

TEST_CASE_FIXTURE(Fixture, "memory") {
  call.inputs = {{"x", ConstTensorView(static_cast<const float*>(nullptr), {4, 5, 2})}};
  CHECK(message() == "input `x`: its data pointer is null");
  const auto* odd = static_cast<const std::byte*>(x.data()) + 1;
  call.inputs = {{"x", ConstTensorView(odd, DType::Float32, {4, 5, 2})}};
  CHECK(message() == "input `x`: its data pointer is not aligned to an element of 4 bytes");
  const std::int64_t sizes[] = {4, 5, 2};
  const std::int64_t turned[] = {1, 4, 20};
  call.inputs = {{"x", ConstTensorView(x.as<float>().data(), TensorShape(sizes, turned))}};
  CHECK(message() == "input `x`: axis 2 of [4, 5, 2] has stride 20, expected 1; only time and batch may have gaps");
  call.inputs = {{"x", x}};
  call.finals = {{"h", TensorView(y.as<float>().data(), {5, 3})}};
  CHECK(message() == "output `h` and final state `h` share memory");
  const std::int64_t rows[] = {4, 5, 3};
  const std::int64_t shared[] = {15, 0, 1};
  call.finals = {};
  call.outputs = {{"h", TensorView(y.as<float>().data(), TensorShape(rows, shared))}};
  CHECK(message() == "output `h`: axis 1 of [4, 5, 3] has stride 0, so its elements share memory");
}

TEST_CASE_FIXTURE(Fixture, "sizes past 64 bits") {
  const std::int64_t sizes[] = {4, 5, 2};
  const std::int64_t far[] = {std::int64_t{1} << 62, 2, 1};
  call.inputs = {{"x", ConstTensorView(x.as<float>().data(), TensorShape(sizes, far))}};
  CHECK(message() == "input `x`: more than 2^63");
  call.inputs = {{"x", x}};
  CHECK_THROWS_AS(executable.memory(std::int64_t{1} << 62, 1 << 20, true), UsageError);
}

TEST_CASE_FIXTURE(Fixture, "records") {
  Record record = executable.forward_training(call);
  CHECK(record.steps() == 4);
  CHECK(record.batch() == 5);
  CHECK(record.bytes() > 0);
  CHECK(record.plan() == executable.plan(ProgramKind::Forward).name);
  const Executable other = compile(tanh_cell(), options);
  CHECK_THROWS_AS(other.backward(std::move(record), {}), UsageError);
  Tensor dy(DType::Float32, {3, 5, 3});
  BackwardCall wrong{.outputs = {{"h", dy}}};
  CHECK_THROWS_WITH_AS(executable.backward(std::move(record), wrong),
                       "gradient of output `h`: time is 3, but argument `steps` says 4", UsageError);
  CHECK(record);  // an error leaves it as it was
  executable.backward(std::move(record), {});
  CHECK_FALSE(record);
  CHECK_THROWS_WITH_AS(executable.backward(std::move(record), {}), "backward: the record is empty, or was used before",
                       UsageError);
  CHECK_THROWS_AS(record.steps(), UsageError);
}

TEST_CASE_FIXTURE(Fixture, "gradients that were left out") {
  options.gradients = {"W", "h"};
  executable = compile(tanh_cell(), options);
  Record record = executable.forward_training(call);
  Tensor du(DType::Float32, {3, 3});
  CHECK_THROWS_WITH_AS(executable.backward(std::move(record), {.params = {{"U", du}}}),
                       "gradient of param `U` is not computed: it was left out at compile time, or is no trained value",
                       UsageError);
  options.gradients = {"V"};
  CHECK_THROWS_WITH_AS(compile(tanh_cell(), options),
                       doctest::Contains("cell `rnn` has no input, param or state `V` to compute a gradient of"),
                       CompileError);
}

TEST_CASE_FIXTURE(Fixture, "programs that were left out") {
  options.training = false;
  executable = compile(tanh_cell(), options);
  CHECK_THROWS_WITH_AS(static_cast<void>(executable.forward_training(call)),
                       "cell `rnn` was compiled without its forward program", UsageError);
  options.resets = false;
  executable = compile(tanh_cell(), options);
  const std::vector<std::uint8_t> reset(20);
  call.sequence.reset = {reset.data(), {4, 5}};
  CHECK(message() == "reset: the cell was compiled without resets (CompileOptions::resets)");
}

TEST_CASE_FIXTURE(Fixture, "options") {
  const auto complains = [this](const char* about) {
    CHECK_THROWS_WITH_AS(compile(tanh_cell(), options), doctest::Contains(about), CompileError);
    options = CompileOptions();
    options.device = test_device();
  };
  options.device = "tpu";
  complains("this build has no device `tpu`");
  options.target = "h900";
  complains("there is no target `h900`");
  options.threads = -1;
  complains("threads: expected a number from 1 up, got -1");
  options.inference = options.training = false;
  complains("neither inference nor training");
  options.dims = {{"H", 3}};
  complains("cell `rnn` has no open dimension `H`");
  CHECK_THROWS_AS(compile(CellTemplate()), CompileError);
}

TEST_CASE("empty handles") {
  const Executable executable;
  CHECK_THROWS_AS(executable.forward({}), UsageError);
  Stepper stepper;
  CHECK_THROWS_AS(stepper.step({}), UsageError);
}
