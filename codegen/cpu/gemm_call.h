#pragma once

#include <cstddef>
#include <cstdint>

namespace cellfuse::cpu {

/// Rows of a matrix product's operand: row r of sample s at step t is at data + t * time_stride + s * batch_stride + r
/// times the size of a row. Strides in bytes, 0 where there is only one; the operand that is no rows has none.
struct GemmOperand {
  std::byte* data;
  std::int64_t time_stride;
  std::int64_t batch_stride;
};

/// Arguments of the library product, as compiled code passes them; see Gemm in `ir/plan.h`.
struct GemmCall {
  GemmOperand a;
  GemmOperand b;
  GemmOperand c;
  std::int64_t steps;
  std::int64_t samples;
  std::int64_t rows_per_unit;
  std::int64_t n;
  std::int64_t k;
  std::int64_t outer;          ///< 1 for GemmKind::Outer
  std::int64_t contract_rows;  ///< the matrix is [k, n]
  std::int64_t accumulate;
};

/// The library products that compiled code calls: `void(const GemmCall*)`, in the compute type of the name.
inline constexpr const char* kGemmFloat32 = "cellfuse_gemm_f32";
inline constexpr const char* kGemmFloat64 = "cellfuse_gemm_f64";

}  // namespace cellfuse::cpu
