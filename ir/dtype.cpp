#include "ir/dtype.h"

#include <array>

namespace cellfuse {

namespace {
constexpr std::array<DTypeInfo, 4> kDTypes{{
    {DType::Float16, "float16", 2, DType::Float32, 5e-3, 5e-2},
    {DType::BFloat16, "bfloat16", 2, DType::Float32, 3e-2, 2e-1},
    {DType::Float32, "float32", 4, DType::Float32, 1e-5, 1e-4},
    {DType::Float64, "float64", 8, DType::Float64, 1e-11, 1e-9},
}};
}  // namespace

std::span<const DTypeInfo> dtypes() { return kDTypes; }

const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace cellfuse
