// Accuracy of the mathematical functions of compiled code, in units of the last place.
#if CELLFUSE_CPU_JIT

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <doctest/doctest.h>

#include "tests/support/hand_plan.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr std::int64_t kSize = 1 << 16;

/// A function of one argument, compiled for vectors of a width (or, `width` 0, for single numbers).
class CompiledFunction {
 public:
  CompiledFunction(Op op, DType dtype, int width) : hand_(dtype, width == 0 ? 64 : width) {
    const Shape shape = width == 0 ? Shape{1} : Shape{kSize};
    Kernel kernel;
    kernel.name = "function";
    const Expr x = hand_.given(kernel, shape);
    const Expr y = cellfuse::apply(op, {x});
    in_ = hand_.buffer_of(kernel, x);
    out_ = hand_.kept(kernel, y);
    kernel.nests.push_back({NestKind::Map, shape, 0, {y.id}, {}});
    hand_.plan.chunk.emplace_back(kernel);
    hand_.allocate(width == 0 ? kSize : 1, 1);
  }

  template <typename T>
  std::vector<T> operator()(const std::vector<T>& arguments) {
    std::vector<T> results(arguments.size());
    std::memcpy(hand_.frame().data[in_], arguments.data(), arguments.size() * sizeof(T));
    hand_.code().chunk()(&hand_.frame());
    std::memcpy(results.data(), hand_.frame().data[out_], results.size() * sizeof(T));
    return results;
  }

 private:
  HandPlan hand_;
  int in_ = 0;
  int out_ = 0;
};

/// Distance from the exact result in units of the last place; infinite where a special result is missed.
double units(float got, double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (got == rounded) return 0;
  if (std::isinf(rounded)) return INFINITY;
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::fabs(static_cast<double>(got) - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

double units(double got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (got == want) return 0;
  if (std::isinf(want)) return INFINITY;
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::fabs(got - want) / std::ldexp(1.0, std::max(exponent - 53, -1074));
}

struct Function {
  Op op;
  double (*exact)(double);
  double limit;
};

constexpr Function kFunctions[] = {
    {Op::Exp, [](double x) { return std::exp(x); }, 1.2},
    {Op::Log, [](double x) { return std::log(x); }, 1.5},
    {Op::Tanh, [](double x) { return std::tanh(x); }, 4},
    {Op::Sigmoid, [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }, 3},
    {Op::Log1p, [](double x) { return std::log1p(x); }, 4},
    {Op::Expm1, [](double x) { return std::expm1(x); }, 4},
    {Op::Sin, [](double x) { return std::sin(x); }, 4},
    {Op::Cos, [](double x) { return std::cos(x); }, 4},
    {Op::Erf, [](double x) { return std::erf(x); }, 4.01},
};

/// Every `stride`-th float there is; CELLFUSE_EVERY_FLOAT=1 takes all.
void check_float32(const Function& function, int width) {
  CAPTURE(name(function.op));
  CAPTURE(width);
  const std::uint64_t stride = std::getenv("CELLFUSE_EVERY_FLOAT") != nullptr ? 1 : 4099;
  CompiledFunction compiled(function.op, DType::Float32, width);
  double worst = 0;
  float at = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U);) {
    std::vector<float> arguments(kSize);
    for (float& argument : arguments) {
      argument = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      bits += stride;
    }
    const std::vector<float> results = compiled(arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const double error = units(results[i], function.exact(static_cast<double>(arguments[i])));
      if (error > worst) worst = error, at = arguments[i];
    }
  }
  INFO("at ", at, " = ", std::bit_cast<std::uint32_t>(at));
  CHECK(worst <= function.limit);
}

}  // namespace

TEST_CASE("float32 functions over all floats, in every width") {
  for (const Function& function : kFunctions) {
    for (int width : {64, 32, 16, 0}) check_float32(function, width);
  }
}

TEST_CASE("float32 functions at the places where they turn") {
  std::vector<float> arguments(kSize, 0.0F);
  std::size_t next = 0;
  auto around = [&](float x) {
    float below = x;
    float above = x;
    for (int i = 0; i < 300; ++i) {
      arguments[next++] = below;
      arguments[next++] = -above;
      below = std::nextafter(below, -INFINITY);
      above = std::nextafter(above, INFINITY);
    }
  };
  for (float x : {0.0F,       1e-40F,      0x1p-126F, 1e-20F, 0.0004F, 0.34657359F, 0.70710678F, 1.0F,
                  1.0397F,    1.41421356F, 9.0F,      17.0F,  18.0F,   87.33654F,   88.72283F,   103.27893F,
                  103.97208F, 104.0F,      128.0F,    1e10F,  3.4e38F, INFINITY}) {
    around(x);
  }
  for (const Function& function : kFunctions) {
    for (int width : {64, 32, 16}) {
      CAPTURE(name(function.op));
      CAPTURE(width);
      CompiledFunction compiled(function.op, DType::Float32, width);
      const std::vector<float> results = compiled(arguments);
      double worst = 0;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        worst = std::max(worst, units(results[i], function.exact(static_cast<double>(arguments[i]))));
      }
      CHECK(worst <= function.limit);
    }
  }
}

TEST_CASE("tanh never passes 1, and is odd; the logistic function stays in [0, 1]") {
  CompiledFunction tanh(Op::Tanh, DType::Float32, 64);
  CompiledFunction sigmoid(Op::Sigmoid, DType::Float32, 64);
  std::vector<float> arguments(kSize);
  std::vector<float> mirrored(kSize);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = static_cast<float>(i) * 0x1p-12F + 1e-4F;
    mirrored[i] = -arguments[i];
  }
  const std::vector<float> up = tanh(arguments);
  const std::vector<float> down = tanh(mirrored);
  const std::vector<float> high = sigmoid(arguments);
  bool fine = true;
  for (std::size_t i = 0; i < up.size(); ++i) {
    fine = fine && up[i] <= 1 && up[i] == -down[i] && high[i] >= 0.5F && high[i] <= 1;
  }
  CHECK(fine);
}

TEST_CASE("float64 functions agree with the C library's") {
  std::mt19937_64 random(11);
  for (const Function& function : kFunctions) {
    for (int width : {64, 32, 16, 0}) {
      CAPTURE(name(function.op));
      CAPTURE(width);
      CompiledFunction compiled(function.op, DType::Float64, width);
      std::vector<double> arguments(kSize);
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::uint64_t bits = random();
        const double unit = static_cast<double>(bits >> 11U) * 0x1p-52 - 1;
        arguments[i] = i % 4 == 0 ? std::bit_cast<double>(bits) : unit * (i % 4 == 1 ? 1 : (i % 4 == 2 ? 30 : 740));
      }
      arguments[1] = 0.0;
      arguments[2] = -0.0;
      arguments[3] = INFINITY;
      arguments[5] = -INFINITY;
      arguments[6] = NAN;
      const std::vector<double> results = compiled(arguments);
      double worst = 0;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        worst = std::max(worst, units(results[i], function.exact(arguments[i])));
      }
      CHECK(worst <= 5);
    }
  }
}

#endif
