#include "runtime/executable.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/diagnostic.h"
#include "runtime/call_layout.h"
#include "runtime/executable_impl.h"

namespace cellfuse {

namespace {

bool needs_step_index(const Compilation& compilation, ProgramKind kind) {
  return compilation.uses_step_index(kind) ||
         (kind == ProgramKind::Forward && compilation.uses_step_index(ProgramKind::Backward));
}

void copy_sequence(const SequenceArguments& sequence, PlanCall& plan) {
  plan.reverse = sequence.reverse;
  plan.first_step = sequence.first_step;
  plan.first_sample = sequence.first_sample;
  plan.seed = sequence.seed;
  plan.offset = sequence.offset;
  plan.layer = sequence.layer;
  plan.direction = sequence.direction;
}

/// A forward call, checked, and what must live as long as it runs.
struct BoundForward {
  PlanCall plan;
  SequenceFlags flags;
  MemoryPool::Block initial;
};

BoundForward bind_forward(const ForwardCall& call, const Compilation& compilation, ProgramKind kind, int threads,
                          MemoryPool& memory) {
  const CallSlots slots = slots_of(compilation.interface());
  const Plan& plan = compilation.program(kind).plan;
  CallBinder binder(call.sequence);
  BoundForward bound;
  bound.plan.inputs = binder.bind(slots.inputs, call.inputs);
  bound.plan.params = binder.bind(slots.params, call.params);
  bound.plan.initial = binder.bind(slots.initial, call.initial);
  bound.plan.outputs = binder.bind(slots.outputs, call.outputs);
  bound.plan.finals = binder.bind(slots.finals, call.finals);
  binder.check_aliases();
  if (call.sequence.reset.data && !compilation.has_resets()) {
    throw UsageError("reset: the cell was compiled without resets (CompileOptions::resets)");
  }
  bound.plan.steps = binder.steps();
  bound.plan.batch = binder.batch();
  bound.plan.inputs.resize(plan.interface.inputs.size());
  bound.plan.outputs.resize(plan.interface.outputs.size());
  bound.plan.results.resize(plan.interface.results.size());
  bound.plan.groups = divide_batch(plan, bound.plan.steps, bound.plan.batch, threads);
  copy_sequence(call.sequence, bound.plan);
  bound.flags = make_flags(call.sequence, bound.plan.steps, bound.plan.batch, needs_step_index(compilation, kind));
  bound.initial = copy_initial(compilation.interface(), bound.plan.batch, bound.plan.initial, memory);
  return bound;
}

/// Every gradient that is asked for must be computed.
void check_computed(const Slots& slots, const Tensors& asked, const std::vector<int>& places) {
  for (const NamedTensor& named : asked) {
    for (std::size_t i = 0; i < slots.declared.size(); ++i) {
      if (slots.declared[i].name != named.name || places[i] >= 0) continue;
      throw UsageError(fmt::format("{} `{}` is not computed: it was left out at compile time, or is no trained value",
                                   slots.kind, named.name));
    }
  }
}

void scatter(const std::vector<Strided>& from, const std::vector<int>& places, std::vector<Strided>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (places[i] >= 0) to[static_cast<std::size_t>(places[i])] = from[i];
  }
}

PlanCall bind_backward(const Record::Impl& record, const BackwardCall& call) {
  const Compilation& compilation = *record.compilation;
  const GradientMap& map = compilation.gradients();
  const Cell& cell = compilation.program(ProgramKind::Backward).plan.interface;
  CallSlots slots = slots_of(compilation.interface());
  slots.outputs = {"gradient of output", slots.outputs.declared, Leading::TimeBatch};
  slots.finals = {"gradient of final state", slots.finals.declared, Leading::Batch};
  slots.params = {.kind = "gradient of param",
                  .declared = slots.params.declared,
                  .written = true,
                  .other_dtype = info(compilation.program(ProgramKind::Backward).plan.dtype).compute};
  slots.inputs = {
      .kind = "gradient of input", .declared = slots.inputs.declared, .leading = Leading::TimeBatch, .written = true};
  slots.initial = {.kind = "gradient of initial state",
                   .declared = slots.initial.declared,
                   .leading = Leading::Batch,
                   .written = true};
  check_computed(slots.params, call.params, map.params);
  check_computed(slots.inputs, call.inputs, map.inputs);
  check_computed(slots.initial, call.initial, map.states);

  SequenceArguments sizes;
  sizes.steps = record.steps;
  sizes.batch = record.batch;
  sizes.batch_major = record.sequence.batch_major;
  CallBinder binder(sizes);
  PlanCall plan;
  plan.inputs = record.inputs;
  plan.inputs.resize(cell.inputs.size());
  scatter(binder.bind(slots.outputs, call.outputs), map.output_grads, plan.inputs);
  plan.params = record.params;
  plan.initial = binder.bind(slots.finals, call.finals);
  plan.initial.insert(plan.initial.end(), record.initial.begin(), record.initial.end());
  plan.initial.resize(cell.states.size() + cell.sample_inputs.size());
  plan.outputs.resize(cell.outputs.size());
  scatter(binder.bind(slots.inputs, call.inputs), map.inputs, plan.outputs);
  plan.finals.resize(cell.states.size());
  plan.results.resize(cell.results.size());
  scatter(binder.bind(slots.params, call.params), map.params, plan.results);
  scatter(binder.bind(slots.initial, call.initial), map.states, plan.results);
  binder.check_aliases();
  plan.accumulate = call.accumulate;
  plan.steps = record.steps;
  plan.batch = record.batch;
  plan.groups = record.groups;
  plan.flags = &record.flags;
  plan.record = record.saved.data();
  copy_sequence(record.sequence, plan);
  return plan;
}

}  // namespace

Executable::Executable() noexcept = default;
Executable::Executable(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Executable::Impl& Executable::impl() const {
  if (!impl_) throw UsageError("this executable is empty: it was not made by compile()");
  return *impl_;
}

void Executable::forward(const ForwardCall& call) const {
  const auto compilation = impl().compilation(call);
  const LoadedPlan& plan = compilation->loaded(ProgramKind::Inference);
  BoundForward bound = bind_forward(call, *compilation, ProgramKind::Inference, threads(), *impl().resources->memory);
  bound.plan.flags = &bound.flags;
  plan.run(bound.plan);
}

Record Executable::forward_training(const ForwardCall& call) const {
  const auto compilation = impl().compilation(call);
  const LoadedPlan& plan = compilation->loaded(ProgramKind::Forward);
  MemoryPool& memory = *impl().resources->memory;
  BoundForward bound = bind_forward(call, *compilation, ProgramKind::Forward, threads(), memory);
  auto record = std::make_unique<Record::Impl>();
  record->executable = impl_;
  record->compilation = compilation;
  record->steps = bound.plan.steps;
  record->batch = bound.plan.batch;
  record->groups = bound.plan.groups;
  record->sequence = call.sequence;
  record->sequence.lengths = {};
  record->sequence.mask = {};
  record->sequence.reset = {};
  record->flags = std::move(bound.flags);
  record->inputs = bound.plan.inputs;
  record->params = bound.plan.params;
  record->initial = bound.plan.initial;
  record->copies = std::move(bound.initial);
  record->bytes = record_layout(compilation->program(ProgramKind::Forward).plan, record->steps, record->batch).bytes;
  record->saved = memory.take(static_cast<std::size_t>(record->bytes));
  bound.plan.flags = &record->flags;
  bound.plan.record = record->saved.data();
  plan.run(bound.plan);
  return Record(std::move(record));
}

void Executable::backward(Record&& record, const BackwardCall& call) const {
  if (!record.impl_) throw UsageError("backward: the record is empty, or was used before");
  const Compilation& compilation = *record.impl_->compilation;
  if (record.impl_->executable != impl_) {
    throw UsageError(fmt::format("backward: the record of plan `{}` was made by another executable", record.plan()));
  }
  compilation.loaded(ProgramKind::Backward).run(bind_backward(*record.impl_, call));
  record.impl_.reset();
}

MemoryUse Executable::memory(std::int64_t steps, std::int64_t batch, bool training) const {
  if (steps < 0 || batch < 0) throw UsageError("memory: steps and batch are numbers from 0 up");
  const auto compilation = impl().only();
  const std::int64_t limit = impl().options.workspace_limit;
  const Plan& first = compilation->program(training ? ProgramKind::Forward : ProgramKind::Inference).plan;
  const BatchGroups groups = divide_batch(first, steps, batch, threads());
  MemoryUse use = memory_use(first, steps, groups, limit);
  if (!training) return use;
  const MemoryUse backward = memory_use(compilation->program(ProgramKind::Backward).plan, steps, groups, limit);
  use.workspace = std::max(use.workspace, backward.workspace);
  use.scratch = std::max(use.scratch, backward.scratch);
  use.accumulators = std::max(use.accumulators, backward.accumulators);
  use.flags = std::max(use.flags, backward.flags);
  use.record = record_layout(first, steps, batch).bytes;
  return use;
}

const Interface& Executable::interface() const { return impl().only()->interface(); }
const Plan& Executable::plan(ProgramKind kind) const { return impl().only()->program(kind).plan; }
DType Executable::dtype() const { return impl().options.dtype; }
int Executable::threads() const { return impl().options.threads; }
std::int64_t Executable::compilations() const { return impl().count(); }
bool Executable::bound() const { return impl().bound(); }

}  // namespace cellfuse
