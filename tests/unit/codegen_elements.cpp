#if CELLFUSE_CPU_JIT

#include <cmath>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "runtime/tensor.h"
#include "tests/support/hand_plan.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr DType kDTypes[] = {DType::Float64, DType::Float32, DType::BFloat16, DType::Float16};
constexpr int kWidths[] = {64, 32, 16};

/// Arguments in the domain of an operation, with special ones among them.
std::vector<double> arguments_for(std::mt19937& random, std::string_view spelling, int argument, std::int64_t count) {
  double low = -4;
  double high = 4;
  if (spelling == "log" || spelling == "sqrt" || spelling == "rsqrt") low = 0.01;
  if (spelling == "log1p") low = -0.9;
  if (spelling == "pow" && argument == 0) low = 0.1;
  if (spelling == "mod" && argument == 1) low = 0.5;
  if (spelling == "clip_grad" || spelling == "clamp") {
    if (argument == 1) high = -0.5;
    if (argument == 2) low = 0.5;
  }
  std::vector<double> values = numbers(random, count, low, high);
  if (spelling == ".div" || spelling == "reciprocal") {
    for (double& value : values) value = value < 0 ? value - 0.5 : value + 0.5;
  }
  return values;
}

/// One operation of the table as a kernel over vectors of `size`.
void check_operation(const ElementwiseInfo& row, DType dtype, int width, std::int64_t size) {
  CAPTURE(row.spelling);
  CAPTURE(info(dtype).name);
  CAPTURE(width);
  CAPTURE(size);
  HandPlan hand(dtype, width);
  Kernel kernel;
  kernel.name = "operation";
  std::vector<Expr> operands;
  for (int i = 0; i < row.arity; ++i) operands.push_back(hand.given(kernel, {size}));
  const Expr result = cellfuse::apply(row.op, operands);
  const int out = hand.kept(kernel, result);
  kernel.nests.push_back({NestKind::Map, result.shape(), 0, {result.id}, {}});
  hand.plan.chunk.emplace_back(kernel);
  constexpr std::int64_t kSteps = 2;
  constexpr std::int64_t kSamples = 3;
  hand.allocate(kSteps, kSamples);
  std::mt19937 random(static_cast<unsigned>(size));
  std::vector<std::vector<double>> inputs;
  for (int i = 0; i < row.arity; ++i) {
    inputs.push_back(rounded(arguments_for(random, row.spelling, i, kSteps * kSamples * size), dtype));
    if (row.cost == Cost::Cheap && size > 1) {
      inputs.back()[1] = 0.0;
      inputs.back()[4] = std::numeric_limits<double>::quiet_NaN();
      inputs.back()[5] = std::numeric_limits<double>::infinity();
    }
    hand.set(hand.buffer_of(kernel, operands[static_cast<std::size_t>(i)]), inputs.back());
  }
  hand.code().chunk()(&hand.frame());
  std::vector<double> want;
  for (std::size_t i = 0; i < inputs[0].size(); ++i) {
    auto argument = [&](std::size_t k) { return k < inputs.size() ? inputs[k][i] : 0.0; };
    want.push_back(row.evaluate(argument(0), argument(1), argument(2)));
  }
  CHECK(worst_error(hand.get(out), want) < operation_tolerance(dtype));
}

}  // namespace

TEST_CASE("every operation of the table means the same in compiled code, in every dtype, at odd sizes") {
  for (const ElementwiseInfo& row : elementwise_ops()) {
    for (DType dtype : kDTypes) {
      for (std::int64_t size : {1, 33}) check_operation(row, dtype, 64, size);
    }
  }
}

TEST_CASE("every operation of the table means the same in narrower vectors") {
  for (const ElementwiseInfo& row : elementwise_ops()) {
    for (int width : {32, 16}) {
      check_operation(row, DType::Float64, width, 7);
      check_operation(row, DType::Float32, width, 19);
    }
  }
}

TEST_CASE("sizes around whole vectors") {
  const ElementwiseInfo& row = *find_elementwise("tanh");
  for (DType dtype : kDTypes) {
    for (std::int64_t size : {2, 3, 7, 8, 15, 16, 17, 31, 32, 100}) check_operation(row, dtype, 64, size);
  }
}

TEST_CASE("16-bit floats are read and written exactly, and rounded to nearest even") {
  for (DType dtype : {DType::Float16, DType::BFloat16}) {
    for (int width : kWidths) {
      CAPTURE(info(dtype).name);
      CAPTURE(width);
      HandPlan hand(dtype, width);
      Kernel kernel;
      kernel.name = "convert";
      constexpr std::int64_t kSize = 1 << 16;
      const Expr stored = hand.given(kernel, {kSize});
      const Expr wide = leaf(hand.graph(), Op::Input, 100, {kSize});
      kernel.loads.push_back({wide.id, hand.buffer(Space::Workspace, {kSize}, DType::Float32, true, true)});
      const int same = hand.kept(kernel, stored);
      const int narrow = hand.kept(kernel, wide);
      const int widened = hand.kept(kernel, stored, DType::Float32);
      kernel.nests.push_back({NestKind::Map, {kSize}, 0, {stored.id, wide.id}, {}});
      hand.plan.chunk.emplace_back(kernel);
      hand.allocate(1, 1);

      std::vector<std::uint16_t> bits(kSize);
      for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
      const auto at = static_cast<std::size_t>(hand.buffer_of(kernel, stored));
      std::memcpy(hand.frame().data[at], bits.data(), 2 * kSize);
      std::vector<double> exact(kSize);
      convert(bits.data(), dtype, exact.data(), DType::Float64, kSize);
      // Between neighbours: a quarter, half and three quarters of the way.
      std::vector<double> between(kSize);
      for (std::size_t i = 0; i < between.size(); ++i) {
        const double next = std::nextafter(static_cast<float>(exact[i]), 0.0F);
        const double other = i % 3 == 0 ? next : (exact[i] + exact[(i + 1) % kSize]) * (i % 3 == 1 ? 0.5 : 0.25);
        between[i] = static_cast<float>(other);
      }
      hand.set(hand.buffer_of(kernel, wide), between);
      hand.code().chunk()(&hand.frame());
      CHECK(worst_error(hand.get(same), exact) == 0);
      CHECK(worst_error(hand.get(widened), exact) == 0);
      CHECK(worst_error(hand.get(narrow), rounded(between, dtype)) == 0);
    }
  }
}

TEST_CASE("a long chain of values") {
  HandPlan hand(DType::Float64);
  Kernel kernel;
  kernel.name = "chain";
  const Expr x = hand.given(kernel, {20});
  Expr y = x;
  constexpr int kLength = 4000;
  for (int i = 0; i < kLength; ++i) y = y * 0.5 + x;
  const int out = hand.kept(kernel, y);
  kernel.nests.push_back({NestKind::Map, {20}, 0, {y.id}, {}});
  hand.plan.chunk.emplace_back(kernel);
  hand.allocate(1, 1);
  hand.set(hand.buffer_of(kernel, x), std::vector<double>(20, 3.0));
  hand.code().chunk()(&hand.frame());
  CHECK(worst_error(hand.get(out), std::vector<double>(20, 6.0)) < 1e-15);
}

TEST_CASE("a plan that breaks its rules is named, with the kernel and the value") {
  HandPlan hand(DType::Float32);
  Kernel kernel;
  kernel.name = "lost";
  const Expr x = leaf(hand.graph(), Op::Input, 0, {5});
  hand.graph().set_name(x.id, "speed");
  const Expr y = tanh(x);
  hand.kept(kernel, y);
  kernel.nests.push_back({NestKind::Map, {5}, 0, {y.id}, {}});
  hand.plan.chunk.emplace_back(kernel);
  CHECK_THROWS_WITH_AS(hand.code(),
                       "internal error in codegen/cpu: kernel lost, value 0 (speed), input[5]: neither loaded nor "
                       "computed by an earlier nest",
                       InternalError);
}

TEST_CASE("the code of a plan can be read") {
  HandPlan hand(DType::Float32);
  Kernel kernel;
  kernel.name = "gate";
  const Expr x = hand.given(kernel, {40});
  const Expr y = sigmoid(x);
  hand.graph().set_name(y.id, "forget_gate");
  hand.kept(kernel, y);
  kernel.nests.push_back({NestKind::Map, {40}, 0, {y.id}, {}});
  hand.plan.chunk.emplace_back(kernel);
  const std::string text = cpu::llvm_text(hand.plan);
  CHECK(text.find("; kernel, for each sample and step: map [40]; makes output1\n") != std::string::npos);
  CHECK(text.find("%forget_gate = ") != std::string::npos);
  CHECK(text == cpu::llvm_text(hand.plan));
  for (int width : {64, 32, 16}) {
    hand.plan.target.vector_bytes = width;
    CHECK(cpu::assembly_text(hand.plan).find("hand.gate") != std::string::npos);
  }
}

TEST_CASE("random numbers are those of the interpreter, bit for bit") {
  for (DType dtype : {DType::Float64, DType::Float32}) {
    HandPlan hand(dtype);
    Kernel kernel;
    kernel.name = "draws";
    constexpr std::int64_t kSteps = 3;
    constexpr std::int64_t kSamples = 2;
    std::vector<Expr> draws;
    std::vector<int> buffers;
    for (bool shared : {false, true}) {
      for (bool per_sample : {false, true}) {
        draws.push_back(random(hand.graph(), 7 + static_cast<int>(draws.size()), {5, 7}, shared, per_sample));
        buffers.push_back(hand.kept(kernel, draws.back()));
        kernel.nests.push_back({NestKind::Map, {5, 7}, 0, {draws.back().id}, {}});
      }
    }
    const int step_index = hand.flags(Space::StepIndex);
    hand.plan.chunk.emplace_back(kernel);
    hand.allocate(kSteps, kSamples);
    hand.set(step_index, {11, 12, 12, 12, 13, 12});
    hand.frame().seed = 0x123456789ABCDEFULL;
    hand.frame().offset = 42;
    hand.frame().layer = 3;
    hand.frame().direction = 1;
    hand.frame().first_sample = 100;
    hand.frame().first_processed = 9;
    hand.code().chunk()(&hand.frame());
    const std::int64_t numbers_of_steps[] = {11, 12, 12, 12, 13, 12};
    for (std::size_t i = 0; i < draws.size(); ++i) {
      std::vector<double> want;
      for (std::int64_t row = 0; row < kSteps * kSamples; ++row) {
        StepPoint point;
        point.seed = hand.frame().seed;
        point.offset = 42;
        point.layer = 3;
        point.direction = 1;
        point.step = numbers_of_steps[row];
        point.processed = 9 + row / kSamples;
        point.sample = 100 + row % kSamples;
        const std::vector<double> one = meaning(hand.graph(), draws[i].id, {}, point);
        want.insert(want.end(), one.begin(), one.end());
      }
      CHECK(worst_error(hand.get(buffers[i]), want) == 0);
    }
  }
}

#endif
