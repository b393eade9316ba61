#pragma once

#include "ir/cell.h"
#include "ir/evaluate.h"
#include "ir/run_data.h"

namespace cellfuse {

/// What the leaves of a cell read from the arguments of a call; for the float64 interpreters.
class CallReader {
 public:
  /// Throws UsageError when an array has the wrong size. Both must outlive the reader.
  CallReader(const Cell& cell, const RunArguments& arguments);

  bool is_live(std::int64_t time, std::int64_t sample) const;
  /// True when the steps are walked from the last one of the data to the first.
  bool walks_down() const { return arguments_.reverse != cell_.backward; }
  /// What StepIndex and Random are functions of at a step of the data.
  StepPoint point(std::int64_t time, std::int64_t sample) const;
  /// The same for values of domain Sample.
  StepPoint point(std::int64_t sample) const;

  /// Writes the elements of a leaf to `result`. `state` is where State and Final leaves find the values of their state
  /// for the sample.
  void read(const Node& leaf, std::int64_t time, std::int64_t sample, const double* state, double* result) const;

 private:
  void check() const;
  void check_initial() const;
  void check_size(const std::string& what, std::size_t got, std::int64_t want) const;

  const Cell& cell_;
  const RunArguments& arguments_;
  std::vector<std::int64_t> step_indices_;
};

}  // namespace cellfuse
