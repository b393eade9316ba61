// The machine: what the code below and the kernels ask of the hardware. Tests run the same kernels on a second
// implementation of this file, on a processor.

#define DEVICE __device__ __forceinline__

// Storage of 16-bit numbers; arithmetic is done in float.
struct Half {
  unsigned short bits;
};
struct BFloat16 {
  unsigned short bits;
};

DEVICE float widen(Half x) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
}

DEVICE float widen(BFloat16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }

// To the nearest, ties to even; NaN stays NaN.
DEVICE Half narrow_to_half(float x) {
  Half narrow;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(x));
  return narrow;
}

DEVICE BFloat16 narrow_to_bfloat16(float x) {
  BFloat16 narrow;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(x));
#else
  const unsigned bits = __float_as_uint(x);
  const unsigned rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
  narrow.bits = static_cast<unsigned short>((x != x ? bits | 0x400000u : rounded) >> 16);
#endif
  return narrow;
}

// Place of a thread.
DEVICE int thread_in_block() { return static_cast<int>(threadIdx.x); }
DEVICE int block_in_grid() { return static_cast<int>(blockIdx.x); }
DEVICE int blocks_in_grid() { return static_cast<int>(gridDim.x); }

// All threads of the block, or of the warp, arrive before any goes on; what they wrote is then seen by all of them.
DEVICE void sync_block() { __syncthreads(); }
DEVICE void sync_warp() { __syncwarp(); }

// The value of another thread of the warp; all 32 take part.
template <typename T>
DEVICE T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, value, mask);
}
template <typename T>
DEVICE T shuffle_up(T value, int distance) {
  return __shfl_up_sync(0xFFFFFFFFu, value, distance);
}

// Memory of the block that the launch gives it, aligned to 16 bytes.
extern __shared__ __align__(16) unsigned char shared_bytes[];
DEVICE unsigned char* shared_memory() { return shared_bytes; }

// Words of 1, 2, 4, 8 and 16 bytes that are read and written by one instruction.
template <int BYTES>
struct Word;
template <>
struct Word<1> {
  using Type = unsigned char;
};
template <>
struct Word<2> {
  using Type = unsigned short;
};
template <>
struct Word<4> {
  using Type = unsigned;
};
template <>
struct Word<8> {
  using Type = uint2;
};
template <>
struct Word<16> {
  using Type = uint4;
};

// What nobody writes while the kernel runs.
template <typename T>
DEVICE T read_constant(const T* at) {
  const auto word = __ldg(reinterpret_cast<const typename Word<sizeof(T)>::Type*>(at));
  T value;
  memcpy(&value, &word, sizeof(T));
  return value;
}

template <typename T>
DEVICE T read_memory(const T* at) {
  const auto word = *reinterpret_cast<const typename Word<sizeof(T)>::Type*>(at);
  T value;
  memcpy(&value, &word, sizeof(T));
  return value;
}

template <typename T>
DEVICE void write_memory(T* at, const T& value) {
  typename Word<sizeof(T)>::Type word;
  memcpy(&word, &value, sizeof(T));
  *reinterpret_cast<typename Word<sizeof(T)>::Type*>(at) = word;
}

// Where kernels of one stream overlap: waits for the one before, and lets the one after get ready. Without an effect in
// an ordinary launch.
DEVICE void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
DEVICE void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Mathematics to the accuracy of the CUDA library (at most 2 ulp in float for what is used here).
namespace accurate {
DEVICE float exp(float x) { return ::expf(x); }
DEVICE double exp(double x) { return ::exp(x); }
DEVICE float expm1(float x) { return ::expm1f(x); }
DEVICE double expm1(double x) { return ::expm1(x); }
DEVICE float log(float x) { return ::logf(x); }
DEVICE double log(double x) { return ::log(x); }
DEVICE float log1p(float x) { return ::log1pf(x); }
DEVICE double log1p(double x) { return ::log1p(x); }
DEVICE float pow(float x, float y) { return ::powf(x, y); }
DEVICE double pow(double x, double y) { return ::pow(x, y); }
DEVICE float sqrt(float x) { return ::sqrtf(x); }
DEVICE double sqrt(double x) { return ::sqrt(x); }
DEVICE float sin(float x) { return ::sinf(x); }
DEVICE double sin(double x) { return ::sin(x); }
DEVICE float cos(float x) { return ::cosf(x); }
DEVICE double cos(double x) { return ::cos(x); }
DEVICE float erf(float x) { return ::erff(x); }
DEVICE double erf(double x) { return ::erf(x); }
DEVICE float tanh(float x) { return ::tanhf(x); }
DEVICE double tanh(double x) { return ::tanh(x); }
DEVICE float floor(float x) { return ::floorf(x); }
DEVICE double floor(double x) { return ::floor(x); }
DEVICE float abs(float x) { return ::fabsf(x); }
DEVICE double abs(double x) { return ::fabs(x); }
}  // namespace accurate

// The hardware's approximations, for 16-bit results: relative error 2^-11 in tanh, about 2^-21 in the others.
namespace approximate {
DEVICE float exp(float x) { return ::__expf(x); }
DEVICE float log(float x) { return ::__logf(x); }
DEVICE float tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
DEVICE float sigmoid(float x) { return ::__fdividef(1.0f, 1.0f + ::__expf(-x)); }
}  // namespace approximate

DEVICE float infinity(float) { return __int_as_float(0x7F800000); }
DEVICE double infinity(double) { return __longlong_as_double(0x7FF0000000000000LL); }
DEVICE float not_a_number(float) { return __int_as_float(0x7FC00000); }
DEVICE double not_a_number(double) { return __longlong_as_double(0x7FF8000000000000LL); }
