#pragma once

// The machine of codegen/cuda/prelude/machine.cuh, on a processor. Programs of emitted kernels begin with it.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/emulation/emulator.h"
#include "tests/emulation/half.h"

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define DEVICE inline

namespace gpu {

namespace emulation = cellfuse::emulation;

struct Half {
  unsigned short bits;
};
struct BFloat16 {
  unsigned short bits;
};

inline float widen(Half x) { return emulation::half_to_float(x.bits); }
inline float widen(BFloat16 x) { return emulation::bfloat16_to_float(x.bits); }
inline Half narrow_to_half(float x) { return {emulation::float_to_half(x)}; }
inline BFloat16 narrow_to_bfloat16(float x) { return {emulation::float_to_bfloat16(x)}; }

inline int thread_in_block() { return emulation::thread_in_block(); }
inline int block_in_grid() { return emulation::block_in_grid(); }
inline int blocks_in_grid() { return emulation::blocks_in_grid(); }
inline void sync_block() { emulation::sync_block(); }
inline void sync_warp() { emulation::sync_warp(); }

template <typename T>
T shuffle_xor(T value, int mask) {
  T result;
  emulation::shuffle(&value, &result, sizeof(T), emulation::lane() ^ mask);
  return result;
}
template <typename T>
T shuffle_up(T value, int distance) {
  T result;
  emulation::shuffle(&value, &result, sizeof(T), emulation::lane() - distance);
  return result;
}

inline unsigned char* shared_memory() { return emulation::shared_memory(); }

template <typename T>
T read_constant(const T* at) {
  emulation::on_read(at, sizeof(T), true);
  return *at;
}
template <typename T>
T read_memory(const T* at) {
  emulation::on_read(at, sizeof(T), false);
  return *at;
}
template <typename T>
void write_memory(T* at, const T& value) {
  emulation::on_write(at, sizeof(T));
  *at = value;
}

inline void wait_for_previous_kernel() {}
inline void let_next_kernel_start() {}

namespace accurate {
#define FUNCTION(NAME, MEANING)                    \
  inline float NAME(float x) { return MEANING; }   \
  inline double NAME(double x) { return MEANING; }
FUNCTION(exp, std::exp(x))
FUNCTION(expm1, std::expm1(x))
FUNCTION(log, std::log(x))
FUNCTION(log1p, std::log1p(x))
FUNCTION(sqrt, std::sqrt(x))
FUNCTION(sin, std::sin(x))
FUNCTION(cos, std::cos(x))
FUNCTION(erf, std::erf(x))
FUNCTION(tanh, std::tanh(x))
FUNCTION(floor, std::floor(x))
FUNCTION(abs, std::fabs(x))
#undef FUNCTION
inline float pow(float x, float y) { return std::pow(x, y); }
inline double pow(double x, double y) { return std::pow(x, y); }
}  // namespace accurate

// As inexact as the hardware: the last bits are cut off.
namespace approximate {
inline float cut(float x, int bits) {
  return std::bit_cast<float>(std::bit_cast<unsigned>(x) & ~((1U << static_cast<unsigned>(23 - bits)) - 1U));
}
inline float exp(float x) { return cut(std::exp(x), 21); }
inline float log(float x) { return cut(std::log(x), 21); }
inline float tanh(float x) { return cut(std::tanh(x), 11); }
inline float sigmoid(float x) { return cut(1.0F / (1.0F + std::exp(-x)), 21); }
}  // namespace approximate

inline float infinity(float) { return std::numeric_limits<float>::infinity(); }
inline double infinity(double) { return std::numeric_limits<double>::infinity(); }
inline float not_a_number(float) { return std::numeric_limits<float>::quiet_NaN(); }
inline double not_a_number(double) { return std::numeric_limits<double>::quiet_NaN(); }

}  // namespace gpu
