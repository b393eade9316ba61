#include "runtime/cpu/execution.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ir/diagnostic.h"
#include "runtime/cpu/gemm.h"

namespace cellfuse::cpu {

namespace {

constexpr std::uint8_t kLive = 1;
constexpr std::uint8_t kNoReset = 0;
constexpr float kFlags32[] = {0, 1};
constexpr double kFlags64[] = {0, 1};

std::byte* address(const void* data) { return static_cast<std::byte*>(const_cast<void*>(data)); }

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Moves along with the steps of a call; what is left of time belongs to a chunk.
bool follows_time(Space space) {
  switch (space) {
    case Space::Input:
    case Space::Output:
    case Space::Record:
    case Space::Live:
    case Space::Reset:
    case Space::StepIndex: return true;
    default: return false;
  }
}

/// Results for which the caller's memory will not do: added to, or in another dtype than they are computed in.
bool is_indirect(const Buffer& buffer, const PlanCall& call) {
  const Strided& result = call.results[at(buffer.index)];
  return buffer.space == Space::Result && !buffer.batch && (call.accumulate || result.dtype != buffer.dtype);
}

/// Whether the program may use the tensor of the call where it lies.
bool is_given(const Buffer& buffer, const PlanCall& call) {
  const auto i = at(buffer.index);
  switch (buffer.space) {
    case Space::Input: return call.inputs[i].data != nullptr;
    case Space::Initial: return call.initial[i].data != nullptr;
    case Space::Output: return call.outputs[i].data != nullptr;
    case Space::Final: return call.finals[i].data != nullptr;
    case Space::Result: return call.results[i].data != nullptr && !is_indirect(buffer, call);
    default: return true;
  }
}

Strided bytes_tensor(const std::vector<std::uint8_t>& bytes, const std::uint8_t& otherwise, std::int64_t batch) {
  if (bytes.empty()) return {address(&otherwise), 0, 0};
  return {address(bytes.data()), batch, 1};
}

template <typename T>
void add(const std::byte* from, std::byte* to, std::int64_t bytes) {
  const auto* __restrict source = reinterpret_cast<const T*>(from);
  auto* __restrict target = reinterpret_cast<T*>(to);
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < count; ++i) target[i] += source[i];
}

void deliver(const std::byte* from, DType from_dtype, const Strided& to, std::int64_t count, bool accumulate) {
  constexpr std::int64_t kBlock = 512;
  const auto from_bytes = static_cast<std::int64_t>(info(from_dtype).bytes);
  const auto to_bytes = static_cast<std::int64_t>(info(to.dtype).bytes);
  std::array<double, kBlock> values;
  std::array<double, kBlock> old;
  for (std::int64_t done = 0; done < count; done += kBlock) {
    const std::int64_t n = std::min(kBlock, count - done);
    convert(from + done * from_bytes, from_dtype, values.data(), DType::Float64, n);
    if (accumulate) {
      convert(to.data + done * to_bytes, to.dtype, old.data(), DType::Float64, n);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) values[i] += old[i];
    }
    convert(values.data(), DType::Float64, to.data + done * to_bytes, to.dtype, n);
  }
}

}  // namespace

std::vector<bool> given_tensors(const Plan& plan, const PlanCall& call) {
  std::vector<bool> given;
  given.reserve(plan.buffers.size());
  for (const Buffer& buffer : plan.buffers) given.push_back(is_given(buffer, call));
  return given;
}

Execution::Execution(const Plan& plan, const CompiledPlan& code, CallLayout layout, MemoryPool& memory)
    : plan_(plan),
      code_(code),
      layout_(std::move(layout)),
      block_(memory.take(static_cast<std::size_t>(layout_.bytes))),
      groups_(layout_.groups.size()) {
  const std::size_t count = plan_.buffers.size();
  for (Tables& tables : groups_) {
    tables.data.resize(count);
    tables.first.resize(count);
    tables.time_stride.resize(count);
    tables.batch_stride.resize(count);
  }
  std::memset(block_.data() + layout_.zeros, 0, static_cast<std::size_t>(layout_.zeros_bytes));
}

void Execution::bind(const PlanCall& call) {
  call_ = &call;
  record_ = record_layout(plan_, call.steps, call.batch);
  for (int g = 0; g < call.groups.count(); ++g) {
    Tables& tables = groups_[at(g)];
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) bind_buffer(g, i);
    Frame& frame = tables.frame;
    frame.data = tables.data.data();
    frame.time_stride = tables.time_stride.data();
    frame.batch_stride = tables.batch_stride.data();
    frame.steps = 0;
    frame.samples = call.groups.samples(g);
    frame.first_sample = call.first_sample + call.groups.first[at(g)];
    frame.first_processed = call.first_step;
    frame.seed = call.seed;
    frame.offset = call.offset;
    frame.layer = call.layer;
    frame.direction = call.direction;
  }
}

/// Room of the call itself: rows of the group one after the other, steps one after the other.
void Execution::bind_own(int group, std::size_t index, std::byte* start, std::int64_t offset) {
  Tables& tables = groups_[at(group)];
  const Buffer& buffer = plan_.buffers[index];
  const std::int64_t bytes = buffer.bytes();
  tables.data[index] = tables.first[index] = start + offset;
  tables.batch_stride[index] = buffer.batch ? bytes : 0;
  tables.time_stride[index] = buffer.time ? bytes * call_->groups.samples(group) : 0;
}

void Execution::bind_buffer(int group, std::size_t index) {
  const Buffer& buffer = plan_.buffers[index];
  const std::int64_t shared = layout_.offset[index];
  const std::int64_t own = layout_.groups[at(group)].offset[index];
  // Outputs have room of their own where they were not given when the call was laid out.
  if (!is_caller_output(buffer.space) || !is_given(buffer, *call_)) {
    if (shared >= 0) return bind_own(group, index, block_.data(), shared);
    if (own >= 0) return bind_own(group, index, block_.data() + layout_.group_start(group), own);
  }
  Tables& tables = groups_[at(group)];
  const bool is_record = buffer.space == Space::Record;
  Strided tensor = is_record ? record_field(group, buffer) : this->tensor(index);
  if (!tensor.data) tensor = {block_.data() + layout_.zeros, 0, 0};
  if (buffer.batch && !is_record) tensor.data += call_->groups.first[at(group)] * tensor.batch_stride;
  if (call_->reverse && !is_record && follows_time(buffer.space)) {
    tensor.data += (call_->steps - 1) * tensor.time_stride;
    tensor.time_stride = -tensor.time_stride;
  }
  tables.data[index] = tables.first[index] = tensor.data;
  tables.time_stride[index] = buffer.time ? tensor.time_stride : 0;
  tables.batch_stride[index] = buffer.batch ? tensor.batch_stride : 0;
}

Strided Execution::tensor(std::size_t index) const {
  const Buffer& buffer = plan_.buffers[index];
  const auto i = at(buffer.index);
  const SequenceFlags& flags = *call_->flags;
  switch (buffer.space) {
    case Space::Input: return call_->inputs[i];
    case Space::Output: return call_->outputs[i];
    case Space::Param: return call_->params[i];
    case Space::Initial: return call_->initial[i];
    case Space::InitialGiven: {
      const std::size_t given = call_->initial[i].data ? 1 : 0;
      return {buffer.dtype == DType::Float64 ? address(&kFlags64[given]) : address(&kFlags32[given]), 0, 0};
    }
    case Space::Final: return call_->finals[i];
    case Space::Result: return call_->results[i];
    case Space::Live: return bytes_tensor(flags.live, kLive, call_->batch);
    case Space::Reset: return bytes_tensor(flags.reset, kNoReset, call_->batch);
    case Space::StepIndex: {
      constexpr std::int64_t kBytes = sizeof(std::int32_t);
      return {address(flags.step_index.data()), call_->batch * kBytes, kBytes};
    }
    default: throw InternalError("execution", "a buffer without a place: " + buffer.name);
  }
}

Strided Execution::record_field(int group, const Buffer& buffer) const {
  const std::int64_t bytes = buffer.bytes();
  const std::int64_t before = call_->groups.first[at(group)] * call_->steps * bytes;
  return {call_->record + record_.offset[at(buffer.index)] + before, call_->groups.samples(group) * bytes, bytes};
}

void Execution::run_once() { code_.once()(&groups_[0].frame); }

void Execution::run_groups(ThreadPool& threads) {
  const int count = static_cast<int>(groups_.size());
  ThreadPool* idle = count < threads.threads() ? &threads : nullptr;
  threads.run(count, [&](int group) {
    const SharedProducts products(idle);
    run_group(group);
  });
}

void Execution::run_group(int group) {
  const GroupLayout& own = layout_.groups[at(group)];
  std::memset(block_.data() + layout_.group_start(group) + own.accumulators, 0,
              static_cast<std::size_t>(own.accumulators_end - own.accumulators));
  Tables& tables = groups_[at(group)];
  if (tables.frame.samples == 0) return;
  code_.begin()(&tables.frame);
  const std::int64_t steps = call_->steps;
  const std::int64_t chunks = (steps + layout_.chunk - 1) / layout_.chunk;
  for (std::int64_t i = 0; i < chunks; ++i) {
    const std::int64_t first = (plan_.interface.backward ? chunks - 1 - i : i) * layout_.chunk;
    run_chunk(tables, first, std::min(layout_.chunk, steps - first));
  }
  code_.end()(&tables.frame);
}

void Execution::run_chunk(Tables& tables, std::int64_t first, std::int64_t steps) {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (!follows_time(buffer.space) || (is_caller_output(buffer.space) && !is_given(buffer, *call_))) continue;
    tables.data[i] = tables.first[i] + first * tables.time_stride[i];
  }
  tables.frame.steps = steps;
  tables.frame.first_processed = call_->first_step + first;
  code_.chunk()(&tables.frame);
}

void Execution::run_finish() {
  add_up_accumulators();
  code_.finish()(&groups_[0].frame);
  deliver_results();
}

void Execution::add_up_accumulators() {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (buffer.space != Space::Accumulator || buffer.batch) continue;
    for (std::size_t g = 1; g < groups_.size(); ++g) {
      const auto add_one = buffer.dtype == DType::Float64 ? add<double> : add<float>;
      add_one(groups_[g].data[i], groups_[0].data[i], buffer.bytes());
    }
  }
}

void Execution::deliver_results() {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (buffer.space != Space::Result || !is_indirect(buffer, *call_)) continue;
    const Strided& result = call_->results[at(buffer.index)];
    if (!result.data) continue;
    deliver(groups_[0].data[i], buffer.dtype, result, buffer.shape.count(), call_->accumulate);
  }
}

}  // namespace cellfuse::cpu
