#include <bit>
#include <cmath>
#include <cstring>

#include "ir/diagnostic.h"
#include "runtime/tensor.h"

namespace cellfuse {

namespace {

/// Storage types: an element as it lies in memory, to and from the arithmetic type.
struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};

float to_float(Half half) {
  const std::uint32_t sign = std::uint32_t{half.bits & 0x8000U} << 16U;
  const std::uint32_t exponent = (half.bits >> 10U) & 0x1FU;
  const std::uint32_t fraction = half.bits & 0x3FFU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13U));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
}

float to_float(BFloat value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16U); }

/// Drops the low `shift` bits of `value`, to nearest even.
std::uint64_t rounded_shift(std::uint64_t value, unsigned shift) {
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t odd = (value >> shift) & 1U;
  return (value + half - 1 + odd) >> shift;
}

/// A double as a 16-bit float with `mantissa` explicit bits and the given exponent bias: rounded once, from all 52
/// bits.
std::uint16_t round_to_16(double value, unsigned mantissa, int bias) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 48U) & 0x8000U);
  const unsigned exponent_bits = 15 - mantissa;
  const std::uint16_t infinity = static_cast<std::uint16_t>(((1U << exponent_bits) - 1U) << mantissa);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1U << (mantissa - 1)));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  const int exponent = static_cast<int>((bits >> 52U) & 0x7FFU) - 1023 + bias;
  std::uint64_t fraction = bits & ((std::uint64_t{1} << 52U) - 1);
  std::uint64_t magnitude = 0;
  if (exponent >= 1) {
    magnitude = rounded_shift((static_cast<std::uint64_t>(exponent) << 52U) | fraction, 52 - mantissa);
  } else if (exponent > -static_cast<int>(mantissa) - 1 && (bits << 1U) != 0) {
    fraction |= std::uint64_t{1} << 52U;
    magnitude = rounded_shift(fraction, 52 - mantissa + 1 + static_cast<unsigned>(-exponent));
  }
  if (exponent >= (1 << exponent_bits) || magnitude > infinity) magnitude = infinity;
  return static_cast<std::uint16_t>(sign | magnitude);
}

double load(float value) { return value; }
double load(double value) { return value; }
double load(Half value) { return to_float(value); }
double load(BFloat value) { return to_float(value); }

void store(double value, float& to) { to = static_cast<float>(value); }
void store(double value, double& to) { to = value; }
void store(double value, Half& to) { to.bits = round_to_16(value, 10, 15); }
void store(double value, BFloat& to) { to.bits = round_to_16(value, 7, 127); }

template <typename From, typename To>
void convert_elements(const void* from, void* to, std::int64_t count) {
  const auto* source = static_cast<const From*>(from);
  auto* target = static_cast<To*>(to);
  for (std::int64_t i = 0; i < count; ++i) store(load(source[i]), target[i]);
}

template <typename From>
void convert_from(const void* from, void* to, DType to_dtype, std::int64_t count) {
  switch (to_dtype) {
    case DType::Float16: return convert_elements<From, Half>(from, to, count);
    case DType::BFloat16: return convert_elements<From, BFloat>(from, to, count);
    case DType::Float32: return convert_elements<From, float>(from, to, count);
    case DType::Float64: return convert_elements<From, double>(from, to, count);
  }
  throw InternalError("convert", "unknown dtype");
}

}  // namespace

void convert(const void* from, DType from_dtype, void* to, DType to_dtype, std::int64_t count) {
  if (count == 0) return;
  if (from_dtype == to_dtype) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * info(to_dtype).bytes);
    return;
  }
  switch (from_dtype) {
    case DType::Float16: return convert_from<Half>(from, to, to_dtype, count);
    case DType::BFloat16: return convert_from<BFloat>(from, to, to_dtype, count);
    case DType::Float32: return convert_from<float>(from, to, to_dtype, count);
    case DType::Float64: return convert_from<double>(from, to, to_dtype, count);
  }
  throw InternalError("convert", "unknown dtype");
}

}  // namespace cellfuse
