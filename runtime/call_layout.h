#pragma once

#include <cstdint>
#include <vector>

#include "runtime/loaded_plan.h"

namespace cellfuse {

/// Where a group of samples keeps what is its own, in bytes from the start of its part of the memory.
struct GroupLayout {
  std::vector<std::int64_t> offset;  ///< by buffer; -1: not kept here
  std::int64_t accumulators = 0;     ///< accumulators lie in [accumulators, accumulators_end)
  std::int64_t accumulators_end = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t bytes = 0;
};

/// Memory of one call: what all groups share, then the groups one after the other.
struct CallLayout {
  std::int64_t chunk = 1;            ///< steps
  std::vector<std::int64_t> offset;  ///< by buffer; -1: not kept here
  std::int64_t zeros = 0;            ///< a row of zeros, for what is not given
  std::int64_t zeros_bytes = 0;
  std::int64_t shared_bytes = 0;
  std::vector<GroupLayout> groups;  ///< one at least, also without samples
  std::int64_t bytes = 0;

  std::int64_t group_start(int group) const;
};

/// Written by a program into memory of the caller.
bool is_caller_output(Space space);

/// Lays out a call of at most `limit` bytes of workspace (more where one step needs more). Tensors for which
/// `is_given`, by buffer, is false get room too. Throws UsageError when it is more than memory can be.
CallLayout lay_out(const Plan& plan, std::int64_t steps, const BatchGroups& groups, std::int64_t limit,
                   const std::vector<bool>& is_given);

/// Bytes of a call in which all tensors are given, without the record.
MemoryUse memory_use(const Plan& plan, std::int64_t steps, const BatchGroups& groups, std::int64_t limit);

}  // namespace cellfuse
