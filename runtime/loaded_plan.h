#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/plan.h"
#include "runtime/bind_call.h"
#include "runtime/executable.h"
#include "runtime/flags.h"

namespace cellfuse {

/// How the samples of a call are divided: group g has the samples from `first[g]` to `first[g + 1]`.
struct BatchGroups {
  std::vector<std::int64_t> first{0, 0};

  int count() const { return static_cast<int>(first.size()) - 1; }
  std::int64_t samples(int group) const {
    const auto g = static_cast<std::size_t>(group);
    return first[g + 1] - first[g];
  }
};

/// Where forward leaves its saved values: for each field `[group][time, samples of the group, shape]`, time in the
/// order in which forward walks.
struct RecordLayout {
  std::vector<std::int64_t> offset;  ///< bytes, by field
  std::int64_t bytes = 0;
};

/// One call of one plan. Tensors are by index in the plan's cell; those the caller does not give or want are null.
struct PlanCall {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  BatchGroups groups;
  bool reverse = false;          ///< forward walks the data from the last step to the first
  std::vector<Strided> inputs;   ///< null for the roles Reset and Record
  std::vector<Strided> outputs;  ///< null for the role Record
  std::vector<Strided> params;
  std::vector<Strided> initial;  ///< of the states, then of the sample inputs
  std::vector<Strided> finals;
  std::vector<Strided> results;
  bool accumulate = false;  ///< results of the domain Once are added to what is there
  const SequenceFlags* flags = nullptr;
  std::byte* record = nullptr;
  std::int64_t first_step = 0;
  std::int64_t first_sample = 0;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::uint32_t layer = 0;
  std::uint32_t direction = 0;
};

/// A plan whose parameters were prepared, ready for calls of one step.
class PreparedPlan {
 public:
  virtual ~PreparedPlan() = default;
  /// `call` has the steps, batch and groups of `LoadedPlan::prepare`.
  virtual void step(const PlanCall& call) = 0;
};

/// A plan as a program on its device.
class LoadedPlan {
 public:
  virtual ~LoadedPlan() = default;

  virtual void run(const PlanCall& call) const = 0;
  /// Runs what depends on parameters only, once, for steps to come. `call` says batch, groups and params.
  virtual std::unique_ptr<PreparedPlan> prepare(const PlanCall& call) const = 0;
  /// Seconds of each part of code generation, by name.
  virtual std::vector<std::pair<std::string, double>> times() const = 0;
};

/// Balanced groups of samples for at most `threads` threads; one group where there is too little work to share.
/// Depends on its arguments alone.
BatchGroups divide_batch(const Plan& plan, std::int64_t steps, std::int64_t batch, int threads);
/// Throws UsageError when the record is larger than memory can be.
RecordLayout record_layout(const Plan& plan, std::int64_t steps, std::int64_t batch);
/// Arithmetic operations of one sample at one step; those outside the loop included.
double work_per_step(const Plan& plan);

}  // namespace cellfuse
