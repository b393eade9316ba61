#pragma once

#include "codegen/cpu/gemm_call.h"

namespace cellfuse {
class ThreadPool;
}

namespace cellfuse::cpu {

/// While it lives, large library products of this thread are shared with the threads of `pool`: for calls whose batch
/// is too small to occupy them otherwise. Null: they are not. A product is cut where its sums stay whole, so that the
/// results do not depend on the number of parts beyond the library's own rounding.
class SharedProducts {
 public:
  explicit SharedProducts(ThreadPool* pool);
  ~SharedProducts();
  SharedProducts(const SharedProducts&) = delete;
  SharedProducts& operator=(const SharedProducts&) = delete;

 private:
  ThreadPool* before_;
};

/// The library products of compiled code: OpenBLAS in the calling thread. Rows at equal distances go to one call.
extern "C" void cellfuse_gemm_f32(const GemmCall* call);
extern "C" void cellfuse_gemm_f64(const GemmCall* call);

/// Sets OpenBLAS to one thread a call and, once in a process, compares a product of each kind in use with a plain loop.
/// Throws DeviceError where it computes wrong results on this processor, with its configuration and what to do.
void check_gemm_library();

}  // namespace cellfuse::cpu
