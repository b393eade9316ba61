#pragma once

#include <cstdint>
#include <vector>

#include "runtime/call.h"

namespace cellfuse {

/// What a call says about each step of each sample, `[time, batch]` without gaps.
struct SequenceFlags {
  std::vector<std::uint8_t> live;        ///< 0: masked; empty: all are live
  std::vector<std::uint8_t> reset;       ///< 1: the states start anew, 0 at masked steps; empty: none does
  std::vector<std::int32_t> step_index;  ///< `t` of the language; empty: not asked for
};

/// Checks lengths, mask and reset of a call over `steps` and `batch`, and lays them out. Throws UsageError.
SequenceFlags make_flags(const SequenceArguments& arguments, std::int64_t steps, std::int64_t batch,
                         bool with_step_index);

}  // namespace cellfuse
