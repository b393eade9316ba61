#include "runtime/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"

using namespace cellfuse;

namespace {

std::uint16_t bits_of(double value, DType dtype) {
  std::uint16_t bits = 0;
  convert(&value, DType::Float64, &bits, dtype, 1);
  return bits;
}

double value_of(std::uint16_t bits, DType dtype) {
  double value = 0;
  convert(&bits, dtype, &value, DType::Float64, 1);
  return value;
}

}  // namespace

TEST_CASE("shapes") {
  const TensorShape shape{2, 3, 4};
  CHECK(shape.str() == "[2, 3, 4]");
  CHECK(shape.stride(0) == 12);
  CHECK(shape.contiguous());
  const std::int64_t sizes[] = {2, 3};
  const std::int64_t strides[] = {1, 2};
  CHECK_FALSE(TensorShape(sizes, strides).contiguous());
  CHECK(TensorShape({}).count() == 1);
  CHECK(TensorShape({0, 5}).contiguous());
  CHECK_THROWS_WITH_AS(TensorShape({1, -1}), "a tensor cannot have shape [1, -1]", UsageError);
  CHECK_THROWS_AS(TensorShape({1, 2, 3, 4, 5, 6}), UsageError);
  CHECK_THROWS_AS(TensorShape({std::int64_t{1} << 40, std::int64_t{1} << 40}), UsageError);
}

TEST_CASE("a tensor of another dtype is refused") {
  Tensor tensor(DType::Float32, {2});
  CHECK_THROWS_WITH_AS(tensor.as<double>(), "a float32 tensor was used as float64", UsageError);
  CHECK_THROWS_AS(tensor.assign(std::vector<double>{1, 2, 3}), UsageError);
  tensor.assign(std::vector<double>{1, 2});
  CHECK(tensor.clone().as<float>()[1] == 2.0F);
}

TEST_CASE("every 16-bit pattern survives a round trip") {
  for (const DType dtype : {DType::Float16, DType::BFloat16}) {
    for (unsigned i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      const double value = value_of(bits, dtype);
      if (std::isnan(value)) {
        CHECK(std::isnan(value_of(bits_of(value, dtype), dtype)));
      } else if (bits_of(value, dtype) != bits) {
        FAIL_CHECK("pattern " << i);
      }
    }
  }
}

TEST_CASE("rounding to 16 bits is to nearest, ties to even") {
  for (const DType dtype : {DType::Float16, DType::BFloat16}) {
    const std::uint16_t infinity = dtype == DType::Float16 ? 0x7C00 : 0x7F80;
    for (std::uint16_t bits = 0; bits < infinity; ++bits) {
      const double low = value_of(bits, dtype);
      const double high = bits + 1 == infinity ? low + (low - value_of(bits - 1, dtype)) : value_of(bits + 1, dtype);
      const double middle = low + (high - low) / 2;
      const auto up = static_cast<std::uint16_t>(bits + 1);
      const std::uint16_t even = (bits & 1U) != 0 ? up : bits;
      const bool good = bits_of(middle, dtype) == even && bits_of(std::nextafter(middle, 0.0), dtype) == bits &&
                        bits_of(std::nextafter(middle, HUGE_VAL), dtype) == up;
      if (!good) FAIL_CHECK("between " << low << " and " << high);
    }
    CHECK(bits_of(1e300, dtype) == infinity);
    CHECK(bits_of(-std::numeric_limits<double>::infinity(), dtype) == (infinity | 0x8000));
    CHECK(bits_of(-0.0, dtype) == 0x8000);
    CHECK(bits_of(1e-300, dtype) == 0);
  }
}
