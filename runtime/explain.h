#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/plan.h"
#include "passes/choose_saved.h"
#include "runtime/executable.h"

namespace cellfuse {

/// One kernel or matrix product of a plan.
struct StageInfo {
  std::string name;
  std::string where;  ///< `once`, `before the loop`, `step`, `after the loop`, `finish` …
  bool is_gemm = false;
  std::string what;    ///< values a kernel stores; operands of a product with their sizes
  std::string reason;  ///< of a product's code and layout
  double flops = 0;    ///< for each sample at each step (for `once` and `finish`: for the call)
  double bytes = 0;    ///< read and written, likewise
};

/// What a program does, counted from its plan.
struct ProgramSummary {
  ProgramKind kind = ProgramKind::Inference;
  std::string plan;
  std::vector<StageInfo> stages;  ///< in the order in which they run
  int kernels_a_step = 0;         ///< in the loop
  int gemms_a_step = 0;
  int synchronisations_a_step = 0;  ///< points where a step waits for a product
  double flops_a_step = 0;          ///< of one sample, in the loop
  double flops_outside = 0;         ///< of one sample and step, before and after the loop
  double bytes_a_step = 0;          ///< that the kernels of the loop move for one sample
  double matrix_bytes_a_step = 0;   ///< of the matrices that a step reads, whatever the batch
  std::string strategy;
  double floor_seconds_a_step = 0;      ///< no plan can beat it, says the model
  double predicted_seconds_a_step = 0;  ///< of the chosen strategy
  std::vector<Candidate> candidates;
  std::vector<std::string> reasons;  ///< one line a decision
};

struct Explanation {
  Interface interface;
  DType dtype = DType::Float32;
  Target target;
  std::vector<ProgramSummary> programs;
  std::vector<SavedValue> saved;            ///< from forward to backward, for each sample and step
  std::vector<RecomputedValue> recomputed;  ///< in backward
};

ProgramSummary summarise(ProgramKind kind, const Plan& plan);

}  // namespace cellfuse
