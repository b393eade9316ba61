#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "ir/diagnostic.h"
#include "runtime/stepper_impl.h"

namespace cellfuse {

namespace {

std::int64_t row_count(const TensorInfo& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  return count;
}

std::size_t row_bytes(const TensorInfo& tensor) {
  return static_cast<std::size_t>(row_count(tensor)) * info(tensor.dtype).bytes;
}

/// `[batch, ...]` in the right dtype, its own axes without gaps.
bool fits(const TensorInfo& tensor, std::int64_t batch, DType dtype, const TensorShape& shape, const void* data) {
  const auto rank = static_cast<int>(tensor.shape.size());
  if (dtype != tensor.dtype || shape.rank() != rank + 1 || shape.size(0) != batch || !data) return false;
  std::int64_t stride = 1;
  for (int axis = rank; axis-- > 0;) {
    const std::int64_t size = tensor.shape[static_cast<std::size_t>(axis)];
    if (shape.size(axis + 1) != size || (size != 1 && shape.stride(axis + 1) != stride)) return false;
    stride *= size;
  }
  return reinterpret_cast<std::uintptr_t>(data) % info(dtype).bytes == 0 && (batch <= 1 || shape.stride(0) != 0);
}

/// A tensor of the call as CallBinder takes it, for the sake of its messages.
[[noreturn]] void explain(const Slots& slots, const ConstTensors& given, std::int64_t batch) {
  SequenceArguments sizes;
  sizes.batch = batch;
  CallBinder(sizes).bind(slots, given);
  throw UsageError(fmt::format("step: a {} does not fit", slots.kind));
}

ConstTensors as_const(const ConstTensors& tensors) { return tensors; }
ConstTensors as_const(const Tensors& tensors) {
  ConstTensors result;
  for (const NamedTensor& named : tensors) result.push_back({named.name, named.tensor});
  return result;
}

}  // namespace

Stepper::Impl::Impl(std::shared_ptr<const Executable::Impl> owner, std::shared_ptr<const Compilation> compiled,
                    const ConstTensors& params, std::int64_t batch)
    : executable_(std::move(owner)), compilation_(std::move(compiled)) {
  if (batch < 0) throw UsageError(fmt::format("prepare: batch is a number from 0 up, not {}", batch));
  const Interface& interface = compilation_->interface();
  const Plan& plan = compilation_->program(ProgramKind::Inference).plan;
  const LoadedPlan& loaded = compilation_->loaded(ProgramKind::Inference);
  inputs_ = {.kind = "input", .declared = interface.inputs, .leading = Leading::Batch, .required = true};
  states_ = {
      .kind = "state", .declared = interface.states, .leading = Leading::Batch, .required = true, .written = true};
  outputs_ = {.kind = "output", .declared = interface.outputs, .leading = Leading::Batch, .written = true};

  CallBinder binder({});
  plan_.params = binder.bind(slots_of(interface).params, params);
  plan_.batch = batch;
  plan_.inputs.resize(plan.interface.inputs.size());
  plan_.outputs.resize(plan.interface.outputs.size());
  plan_.initial.resize(interface.states.size());
  plan_.finals.resize(interface.states.size());
  plan_.results.resize(plan.interface.results.size());
  plan_.flags = &flags_;
  rows_.resize(interface.states.size());
  live_.resize(static_cast<std::size_t>(batch));
  if (compilation_->uses_step_index(ProgramKind::Inference)) flags_.step_index.resize(static_cast<std::size_t>(batch));
  for (const TensorInfo& state : interface.states) {
    std::vector<std::int64_t> shape{batch};
    shape.insert(shape.end(), state.shape.begin(), state.shape.end());
    start_.emplace_back(state.dtype, TensorShape(shape));
    before_.emplace_back(state.dtype, TensorShape(shape));
  }
  compute_start();

  for (std::size_t i = 0; i < before_.size(); ++i) {
    const auto row = static_cast<std::int64_t>(row_bytes(interface.states[i]));
    plan_.initial[i] = {static_cast<std::byte*>(before_[i].data()), 0, row, interface.states[i].dtype};
  }
  plan_.steps = 1;
  plan_.groups = divide_batch(plan, 1, batch, executable_->options.threads);
  prepared_ = loaded.prepare(plan_);
}

/// A sequence without steps ends where it starts.
void Stepper::Impl::compute_start() {
  for (std::size_t i = 0; i < start_.size(); ++i) {
    const TensorInfo& state = compilation_->interface().states[i];
    plan_.finals[i] = {static_cast<std::byte*>(start_[i].data()), 0, static_cast<std::int64_t>(row_bytes(state)),
                       state.dtype};
  }
  plan_.groups = divide_batch(compilation_->program(ProgramKind::Inference).plan, 0, plan_.batch, 1);
  compilation_->loaded(ProgramKind::Inference).run(plan_);
}

template <typename Named>
void Stepper::Impl::find(const Slots& slots, const std::vector<Named>& given, std::vector<Strided>& rows) const {
  std::size_t matched = 0;
  for (std::size_t i = 0; i < slots.declared.size(); ++i) {
    const TensorInfo& declared = slots.declared[i];
    rows[i] = {};
    for (const Named& named : given) {
      if (named.name != declared.name) continue;
      const TensorShape& shape = named.tensor.shape();
      if (rows[i].data ||
          (plan_.batch > 0 && !fits(declared, plan_.batch, named.tensor.dtype(), shape, named.tensor.data()))) {
        explain(slots, as_const(given), plan_.batch);
      }
      const auto bytes = static_cast<std::int64_t>(info(declared.dtype).bytes);
      auto* data = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(named.tensor.data())));
      rows[i] = {data, 0, shape.rank() > 0 ? shape.stride(0) * bytes : 0, declared.dtype};
      ++matched;
    }
    if (slots.required && !rows[i].data && plan_.batch > 0) explain(slots, as_const(given), plan_.batch);
  }
  if (matched != given.size()) explain(slots, as_const(given), plan_.batch);
}

void Stepper::Impl::start(const Tensors& states) {
  find(states_, states, rows_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::size_t row = row_bytes(states_.declared[i]);
    const auto* from = static_cast<const std::byte*>(start_[i].data());
    for (std::int64_t b = 0; b < plan_.batch; ++b) {
      std::memcpy(rows_[i].data + b * rows_[i].batch_stride, from + static_cast<std::size_t>(b) * row, row);
    }
  }
}

void Stepper::Impl::set_flags(const StepCall& call) {
  const auto batch = static_cast<std::size_t>(plan_.batch);
  if (!call.mask.empty() && call.mask.size() != batch) {
    throw UsageError(fmt::format("mask: expected one for each of {} samples, got {}", batch, call.mask.size()));
  }
  if (!call.reset.empty() && call.reset.size() != batch) {
    throw UsageError(fmt::format("reset: expected one for each of {} samples, got {}", batch, call.reset.size()));
  }
  if (call.step < 0 || call.step > std::numeric_limits<std::int32_t>::max()) {
    throw UsageError(fmt::format("step: {} is not between 0 and 2^31", call.step));
  }
  if (call.mask.empty()) {
    std::fill(live_.begin(), live_.end(), std::uint8_t{1});
  } else {
    std::transform(call.mask.begin(), call.mask.end(), live_.begin(), [](std::uint8_t m) { return m != 0 ? 1 : 0; });
  }
  if (call.mask.empty()) {
    flags_.live.clear();
  } else {
    flags_.live.assign(live_.begin(), live_.end());
  }
  std::fill(flags_.step_index.begin(), flags_.step_index.end(), static_cast<std::int32_t>(call.step));
}

void Stepper::Impl::load_states(const StepCall& call) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::size_t row = row_bytes(states_.declared[i]);
    auto* to = static_cast<std::byte*>(before_[i].data());
    for (std::size_t b = 0; b < live_.size(); ++b) {
      const bool anew = !call.reset.empty() && call.reset[b] != 0 && live_[b] != 0;
      const auto* from = anew ? static_cast<const std::byte*>(start_[i].data()) + b * row
                              : rows_[i].data + static_cast<std::int64_t>(b) * rows_[i].batch_stride;
      std::memcpy(to + b * row, from, row);
    }
  }
}

void Stepper::Impl::step(const StepCall& call) {
  find(inputs_, call.inputs, plan_.inputs);
  find(outputs_, call.outputs, plan_.outputs);
  find(states_, call.states, rows_);
  set_flags(call);
  load_states(call);
  std::copy(rows_.begin(), rows_.end(), plan_.finals.begin());
  plan_.first_step = call.step;
  plan_.seed = call.seed;
  plan_.offset = call.offset;
  prepared_->step(plan_);
}

Stepper::Stepper() noexcept = default;
Stepper::Stepper(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Stepper::Stepper(Stepper&&) noexcept = default;
Stepper& Stepper::operator=(Stepper&&) noexcept = default;
Stepper::~Stepper() = default;

namespace {

Stepper::Impl& filled(const std::unique_ptr<Stepper::Impl>& impl) {
  if (!impl) throw UsageError("this stepper is empty: it was not made by prepare()");
  return *impl;
}

}  // namespace

std::int64_t Stepper::batch() const { return filled(impl_).batch(); }
void Stepper::start(const Tensors& states) { filled(impl_).start(states); }
void Stepper::step(const StepCall& call) { filled(impl_).step(call); }

Stepper Executable::prepare(const ConstTensors& params, std::int64_t batch) const {
  return Stepper(std::make_unique<Stepper::Impl>(impl_, impl().compilation(params), params, batch));
}

}  // namespace cellfuse
