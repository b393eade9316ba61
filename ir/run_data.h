#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cellfuse {

/// Row-major float64 elements, with leading axes as each use says.
using Values = std::vector<double>;

/// What one call over a sequence is given, for the float64 interpreters of all three levels. `t` in `[time, batch]` is
/// the index in the data. Empty vectors stand for what the caller does not give.
struct RunArguments {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  /// Per input `[time, batch, ...]`, in the order of Cell::inputs; that of an input with the role Reset is not read.
  std::vector<Values> inputs;
  std::vector<Values> params;  ///< per param and buffer, in the order of Cell::params
  /// Per state, then per sample input, `[batch, ...]`; nullopt or absent: not given.
  std::vector<std::optional<Values>> initial;
  std::vector<std::uint8_t> live;   ///< `[time, batch]`, 0 = masked; empty: all live
  std::vector<std::uint8_t> reset;  ///< `[time, batch]`; empty: none
  bool reverse = false;             ///< the forward pass walks from the last step to the first
  std::int64_t first_step = 0;
  std::int64_t first_sample = 0;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::uint32_t layer = 0;
  std::uint32_t direction = 0;
};

/// What the call gives back.
struct RunResults {
  std::vector<Values> outputs;  ///< per output `[time, batch, ...]`, 0 at masked steps
  std::vector<Values> finals;   ///< per state `[batch, ...]`
  std::vector<Values> results;  ///< per result `[batch, ...]` (domain Sample) or `[...]` (domain Once)
  std::vector<Values> history;  ///< per state `[time, batch, ...]`: its value before each step
};

/// `[time, batch]`: `t` of the language: first_step plus the sample's live steps so far in the order of processing.
std::vector<std::int64_t> step_indices(const RunArguments& arguments);

}  // namespace cellfuse
