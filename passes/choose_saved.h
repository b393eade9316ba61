#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/cell.h"
#include "ir/dtype.h"

namespace cellfuse {

/// What the backward pass may compute a second time rather than read from the record. A product with a matrix is never
/// computed twice, and nothing is computed across steps.
enum class MemoryMode : std::uint8_t {
  Fast,      ///< free and cheap elementwise work (an addition, a comparison) and views
  Balanced,  ///< all elementwise work
  Small,     ///< also reductions and running sums
};

std::string_view name(MemoryMode mode);
std::optional<MemoryMode> memory_mode_from_name(std::string_view name);

/// A value that forward leaves for backward at each step.
struct SavedValue {
  std::string name;
  Shape shape;
  std::int64_t bytes = 0;  ///< for each sample and step
  std::string reason;
};

/// A value that backward computes again.
struct RecomputedValue {
  std::string name;
  std::string reason;
};

/// A forward cell whose last outputs are the record, and a backward cell whose last inputs are the same fields.
struct SavedProgram {
  Cell forward;
  Cell backward;
  std::vector<SavedValue> saved;
  std::vector<RecomputedValue> recomputed;

  std::int64_t bytes() const;  ///< of the record, for each sample and step
};

/// Decides what forward saves: the fewest bytes from which `mode` lets backward compute all the values of the forward
/// pass that it needs, found as a minimum cut. Inputs and params are free: the caller keeps them.
///
/// `backward` must be the derivative of `forward`, with inputs, params and sample inputs in the order of
/// `differentiate`. Among equal choices it prefers fewer fields, values that forward has anyway, and then those that
/// leave less to compute again.
SavedProgram choose_saved(const Cell& forward, const Cell& backward, MemoryMode mode, DType dtype);

}  // namespace cellfuse
