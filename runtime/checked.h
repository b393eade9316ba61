#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ir/diagnostic.h"
#include "ir/dtype.h"

namespace cellfuse {

/// Arithmetic on sizes that throws UsageError, naming `what`, rather than wrap around.
inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw UsageError(std::string(what) + ": more than 2^63");
  return result;
}

inline std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw UsageError(std::string(what) + ": more than 2^63");
  return result;
}

inline std::size_t checked_bytes(std::int64_t count, DType dtype, const char* what) {
  return static_cast<std::size_t>(checked_multiply(count, static_cast<std::int64_t>(info(dtype).bytes), what));
}

}  // namespace cellfuse
