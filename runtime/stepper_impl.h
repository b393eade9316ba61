#pragma once

#include <memory>
#include <vector>

#include "runtime/executable_impl.h"

namespace cellfuse {

struct Stepper::Impl {
  Impl(std::shared_ptr<const Executable::Impl> owner, std::shared_ptr<const Compilation> compiled,
       const ConstTensors& params, std::int64_t batch);

  void start(const Tensors& states);
  void step(const StepCall& call);
  std::int64_t batch() const { return plan_.batch; }

 private:
  /// Finds each declared tensor among those given, and its rows. Falls back on CallBinder for what to say when
  /// something is wrong; takes no memory when all is well.
  template <typename Named>
  void find(const Slots& slots, const std::vector<Named>& given, std::vector<Strided>& rows) const;
  void compute_start();
  void load_states(const StepCall& call);
  void set_flags(const StepCall& call);

  std::shared_ptr<const Executable::Impl> executable_;
  std::shared_ptr<const Compilation> compilation_;
  Slots inputs_;
  Slots states_;
  Slots outputs_;
  PlanCall plan_;
  SequenceFlags flags_;
  std::vector<std::uint8_t> live_;  // room for flags_.live
  std::vector<Tensor> start_;       // by state: the value before the first step, `[batch, ...]`
  std::vector<Tensor> before_;      // by state: a copy of the caller's, which is overwritten
  std::vector<Strided> rows_;       // of the states
  std::unique_ptr<PreparedPlan> prepared_;
};

}  // namespace cellfuse
