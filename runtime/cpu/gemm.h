#pragma once

#include "codegen/cpu/gemm_call.h"

namespace cellfuse::cpu {

/// The library products of compiled code: OpenBLAS in the calling thread. Rows at equal distances go to one call.
extern "C" void cellfuse_gemm_f32(const GemmCall* call);
extern "C" void cellfuse_gemm_f64(const GemmCall* call);

/// Sets OpenBLAS to one thread a call and, once in a process, compares a product of each kind in use with a plain loop.
/// Throws DeviceError where it computes wrong results on this processor, with its configuration and what to do.
void check_gemm_library();

}  // namespace cellfuse::cpu
