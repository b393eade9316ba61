#include "runtime/cpu/cpu_plan.h"

#include "runtime/checked.h"
#include "runtime/cpu/execution.h"

namespace cellfuse::cpu {

namespace {

class CpuPreparedPlan final : public PreparedPlan {
 public:
  CpuPreparedPlan(const Plan& plan, const CompiledPlan& code, const Resources& resources, const PlanCall& call)
      : resources_(resources),
        execution_(plan, code, lay_out(plan, call.steps, call.groups, 0, given_tensors(plan, call)),
                   *resources.memory) {
    execution_.bind(call);
    execution_.run_once();
  }

  void step(const PlanCall& call) override {
    execution_.bind(call);
    execution_.run_groups(*resources_.threads);
  }

 private:
  Resources resources_;
  Execution execution_;
};

class CpuPlan final : public LoadedPlan {
 public:
  CpuPlan(const Plan& plan, const Resources& resources) : plan_(plan), code_(plan), resources_(resources) {}

  void run(const PlanCall& call) const override {
    Execution execution(plan_, code_,
                        lay_out(plan_, call.steps, call.groups, resources_.workspace_limit, given_tensors(plan_, call)),
                        *resources_.memory);
    execution.bind(call);
    execution.run_once();
    execution.run_groups(*resources_.threads);
    execution.run_finish();
  }

  std::unique_ptr<PreparedPlan> prepare(const PlanCall& call) const override {
    return std::make_unique<CpuPreparedPlan>(plan_, code_, resources_, call);
  }

  std::vector<std::pair<std::string, double>> times() const override {
    const CompileTimes& times = code_.times();
    return {{"emit", times.emit}, {"optimise", times.optimise}, {"machine code", times.codegen}};
  }

 private:
  const Plan& plan_;
  CompiledPlan code_;
  Resources resources_;
};

}  // namespace

std::unique_ptr<LoadedPlan> load(const Plan& plan, const Resources& resources) {
  return std::make_unique<CpuPlan>(plan, resources);
}

}  // namespace cellfuse::cpu
