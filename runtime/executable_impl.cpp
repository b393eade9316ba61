#include "runtime/executable_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ir/diagnostic.h"
#include "runtime/checked.h"

namespace cellfuse {

namespace {

/// Bytes of the rows of all samples, and of the copies of all states that are given.
std::int64_t row_bytes(const TensorInfo& state) {
  std::int64_t count = 1;
  for (const std::int64_t size : state.shape) count *= size;
  return static_cast<std::int64_t>(checked_bytes(count, state.dtype, "bytes of a state"));
}

}  // namespace

MemoryPool::Block copy_initial(const Interface& interface, std::int64_t batch, std::vector<Strided>& initial,
                               MemoryPool& memory) {
  constexpr std::int64_t kAlignment = 64;
  std::vector<std::int64_t> offsets;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < initial.size(); ++i) {
    offsets.push_back(bytes);
    if (!initial[i].data) continue;
    const std::int64_t rows = checked_multiply(row_bytes(interface.states[i]), batch, "bytes of a state");
    bytes = checked_add(bytes, rows + kAlignment, "bytes of the states") / kAlignment * kAlignment;
  }
  if (bytes == 0) {
    // Given, but without samples: any address will do.
    return {};
  }
  MemoryPool::Block block = memory.take(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < initial.size(); ++i) {
    if (!initial[i].data) continue;
    const std::int64_t row = row_bytes(interface.states[i]);
    std::byte* copy = block.data() + offsets[i];
    for (std::int64_t b = 0; b < batch; ++b) {
      std::memcpy(copy + b * row, initial[i].data + b * initial[i].batch_stride, static_cast<std::size_t>(row));
    }
    initial[i] = {copy, 0, row, initial[i].dtype};
  }
  return block;
}

CallSlots slots_of(const Interface& interface) {
  CallSlots slots;
  slots.inputs = {.kind = "input", .declared = interface.inputs, .leading = Leading::TimeBatch, .required = true};
  slots.params = {.kind = "param", .declared = interface.params, .required = true};
  slots.initial = {.kind = "initial state", .declared = interface.states, .leading = Leading::Batch, .copied = true};
  slots.outputs = {.kind = "output", .declared = interface.outputs, .leading = Leading::TimeBatch, .written = true};
  slots.finals = {.kind = "final state", .declared = interface.states, .leading = Leading::Batch, .written = true};
  return slots;
}

std::shared_ptr<const Compilation> Executable::Impl::compilation(const ForwardCall& call) {
  if (bound()) return compile_for(options.dims);
  return compile_for(infer_dims(source, options.dims, call));
}

std::shared_ptr<const Compilation> Executable::Impl::compilation(const ConstTensors& params) {
  return compilation(ForwardCall{.params = params});
}

std::shared_ptr<const Compilation> Executable::Impl::compile_for(const DimBinding& dims) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& place = entries_[dims];
    if (!place) place = std::make_shared<Entry>();
    entry = place;
  }
  const std::lock_guard lock(entry->mutex);
  if (!entry->compilation) {
    const Cell cell = source.build(dims, options.constants);
    entry->compilation = std::make_shared<const Compilation>(cell, options, *backend, target, *resources);
  }
  return entry->compilation;
}

std::vector<std::shared_ptr<const Compilation>> Executable::Impl::compiled() const {
  std::vector<std::shared_ptr<Entry>> entries;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [dims, entry] : entries_) entries.push_back(entry);
  }
  std::vector<std::shared_ptr<const Compilation>> compiled;
  for (const std::shared_ptr<Entry>& entry : entries) {
    const std::lock_guard lock(entry->mutex);
    if (entry->compilation) compiled.push_back(entry->compilation);
  }
  return compiled;
}

std::shared_ptr<const Compilation> Executable::Impl::only() const {
  const auto all = compiled();
  if (all.size() == 1) return all.front();
  if (all.empty()) {
    throw UsageError(fmt::format("cell `{}` has open dimensions: the first call binds them", source.name));
  }
  throw UsageError(fmt::format("cell `{}` was compiled for {} bindings of its dimensions; which one is meant?",
                               source.name, all.size()));
}

bool Executable::Impl::bound() const {
  return std::all_of(source.dims.begin(), source.dims.end(), [this](const std::string& dim) {
    return options.dims.contains(dim) || source.default_dims.contains(dim);
  });
}

std::int64_t Executable::Impl::count() const { return static_cast<std::int64_t>(compiled().size()); }

}  // namespace cellfuse
