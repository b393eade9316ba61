#pragma once

#include <cstdint>
#include <span>

#include "ir/graph.h"
#include "ir/run_data.h"

namespace cellfuse {

/// An operand of an operation: its row-major elements and their shape.
struct OperandView {
  const double* data = nullptr;
  const Shape* shape = nullptr;
};

/// A step of a sample of a call: what StepIndex and Random are functions of.
struct StepPoint {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::uint32_t layer = 0;
  std::uint32_t direction = 0;
  std::int64_t step = 0;  ///< `t` of the language
  std::int64_t processed =
      0;  ///< first_step + the steps the call has walked, masked ones too: for draws that a batch shares
  std::int64_t sample = 0;  ///< first_sample + row

  StepPoint() = default;
  /// Before the first step of the first sample.
  explicit StepPoint(const RunArguments& arguments);
};

/// The float64 meaning of one operation for one sample at one step: writes node.shape.count() elements to `result`,
/// which overlaps no operand. For Accumulate and AccumulateOuter it is the term that the step adds to the sum, for
/// WithGrad the value. Leaves that read the caller's arrays, a state, a gradient or the mode have no meaning of their
/// own here and are an InternalError.
void evaluate(const Node& node, std::span<const OperandView> operands, const StepPoint& point, double* result);

}  // namespace cellfuse
