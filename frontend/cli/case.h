#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/cell.h"
#include "ir/run_data.h"

namespace cellfuse {

/// Arrays by name; nullopt where the file says `null`.
using NamedValues = std::map<std::string, std::optional<Values>>;

/// One run of a case and the numbers it should give.
struct CaseVariant {
  std::string name;                   ///< `plain`, or the key under `variants`
  std::vector<std::int64_t> lengths;  ///< per sample; empty: all steps
  bool reverse = false;
  std::vector<std::uint8_t> reset;  ///< `[time, batch]`; empty: none
  NamedValues initial;              ///< per state `[batch, ...]`
  NamedValues outputs;              ///< expected, per output `[time, batch, ...]`
  NamedValues final;                ///< expected, per state `[batch, ...]`
  double loss = 0;
  NamedValues param_grads;    ///< expected, per param
  NamedValues input_grads;    ///< expected, per input `[time, batch, ...]`
  NamedValues initial_grads;  ///< expected, per state `[batch, ...]`
};

/// A cell with numbers to test against, in the format that tests/zoo/README.md describes.
struct Case {
  std::string cell;
  DimBinding dims;
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  NamedValues inputs;                 ///< `[time, batch, ...]`
  NamedValues params;                 ///< params and buffers
  std::vector<CaseVariant> variants;  ///< the plain run first
};

/// Reads a case. Throws UsageError that names the file and the key when it cannot be read or does not have the format.
Case load_case(const std::string& path);

/// The arguments of a variant for `cell`, whose inputs with the role Reset are left out. Throws UsageError when the
/// case lacks an array or one has the wrong size.
RunArguments run_arguments(const Case& test, const CaseVariant& variant, const Cell& cell);

/// Weights `[time, batch, count]` of output `index` in the loss of a case.
Values loss_weights(std::size_t index, std::int64_t steps, std::int64_t batch, std::int64_t count);

/// Largest |got - want| / (1 + |want|); infinite where only one of the two is finite or the sizes differ.
double scaled_error(std::span<const double> got, std::span<const double> want);

}  // namespace cellfuse
