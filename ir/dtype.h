#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace cellfuse {

enum class DType : unsigned char { Float16, BFloat16, Float32, Float64 };

/// One row a dtype.
struct DTypeInfo {
  DType dtype;
  std::string_view name;      ///< as in `--dtype`
  std::size_t bytes;          ///< of one stored element
  DType compute;              ///< arithmetic, states and accumulation are done in this type
  double forward_tolerance;   ///< |got - want| <= tolerance * (1 + |want|) for outputs and final states
  double gradient_tolerance;  ///< the same for gradients
};

std::span<const DTypeInfo> dtypes();
const DTypeInfo& info(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace cellfuse
