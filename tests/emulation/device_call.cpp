#include "tests/emulation/device_call.h"

#include <algorithm>
#include <cstring>

#include "ir/diagnostic.h"

namespace cellfuse::emulation {

namespace {

std::int64_t align(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

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

void largest_scratch(const std::vector<cuda::Action>& actions, std::int64_t& bytes) {
  for (const cuda::Action& action : actions) {
    if (const auto* launch = std::get_if<cuda::Launch>(&action)) bytes = std::max(bytes, launch->scratch_bytes);
    if (const auto* loop = std::get_if<cuda::LoopRun>(&action)) largest_scratch(loop->body, bytes);
  }
}

}  // namespace

DeviceCall::DeviceCall(const Plan& plan, const cuda::CudaSource& source, const RunArguments& arguments,
                       const RunOptions& options)
    : plan_(plan),
      source_(source),
      arguments_(arguments),
      options_(options),
      chunk_(options.chunk_steps > 0 ? options.chunk_steps : std::max<std::int64_t>(arguments.steps, 1)),
      places_(plan.buffers.size()),
      table_((sizeof(cuda::CallHeader) + plan.buffers.size() * sizeof(cuda::TableEntry)) / sizeof(std::uint64_t)) {
  place_arenas();
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) place_buffer(static_cast<int>(i));
  cuda::CallHeader& head = header();
  head.samples = static_cast<std::int32_t>(arguments.batch);
  head.segments = static_cast<std::int32_t>(options.segments);
  head.scratch_blocks = static_cast<std::int32_t>(options.scratch_blocks);
  head.layer = arguments.layer;
  head.direction = arguments.direction;
  head.first_sample = arguments.first_sample;
  head.seed = arguments.seed;
  head.offset = arguments.offset;
  std::int64_t scratch = 0;
  for (const auto* actions : {&source.once, &source.begin, &source.chunk, &source.end, &source.finish}) {
    largest_scratch(*actions, scratch);
  }
  DeviceMemory& room = allocate(scratch * options.scratch_blocks, "scratch");
  head.scratch = reinterpret_cast<std::uint64_t>(room.data());
}

DeviceMemory& DeviceCall::allocate(std::int64_t bytes, const std::string& name) {
  DeviceMemory& memory = memory_.emplace_back(bytes);
  watch_.add(memory.data(), static_cast<std::size_t>(bytes), name);
  return memory;
}

cuda::TableEntry& DeviceCall::entry(int id) {
  return reinterpret_cast<cuda::TableEntry*>(table_.data() + sizeof(cuda::CallHeader) / sizeof(std::uint64_t))[id];
}

void DeviceCall::place_arenas() {
  const std::int64_t rows = arguments_.batch * chunk_;
  std::byte* once = allocate(align(plan_.arena.once), "workspace, once").data();
  std::byte* per_sample = allocate(align(plan_.arena.per_sample * arguments_.batch), "workspace of samples").data();
  std::byte* per_step = allocate(align(plan_.arena.per_step * rows), "workspace of steps").data();
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (buffer.space != Space::Workspace) continue;
    Place& place = places_[i];
    place.data = buffer.time ? per_step + buffer.offset * rows
                             : (buffer.batch ? per_sample + buffer.offset * arguments_.batch : once + buffer.offset);
    place.batch = buffer.batch ? buffer.elements() : 0;
    place.time = buffer.time ? buffer.elements() * arguments_.batch : 0;
  }
}

void DeviceCall::place_buffer(int id) {
  const Buffer& b = buffer(id);
  switch (b.space) {
    case Space::Workspace:
    case Space::Scratch: return;
    case Space::State: return place_own(id, arguments_.batch);
    case Space::Accumulator: {
      const bool slots = source_.has_slots[static_cast<std::size_t>(id)];
      const std::int64_t samples = b.batch || slots ? arguments_.batch : 1;
      place_own(id, std::max<std::int64_t>(samples * (slots ? options_.segments : 1), 1));
      std::memset(places_[static_cast<std::size_t>(id)].data, 0, static_cast<std::size_t>(memory_.back().bytes()));
      return;
    }
    case Space::Live: return place_flags(id, arguments_.live);
    case Space::Reset: return place_flags(id, arguments_.reset);
    case Space::StepIndex: return place_step_index(id);
    case Space::InitialGiven: {
      const bool given = static_cast<std::size_t>(b.index) < arguments_.initial.size() &&
                         arguments_.initial[static_cast<std::size_t>(b.index)].has_value();
      if (given) places_[static_cast<std::size_t>(id)].data = allocate(8, b.name).data();
      return;
    }
    default: return place_tensor(id);
  }
}

void DeviceCall::place_own(int id, std::int64_t rows) {
  const Buffer& b = buffer(id);
  Place& place = places_[static_cast<std::size_t>(id)];
  place.data = allocate(rows * b.bytes(), b.name).data();
  place.batch = b.elements();
}

bool DeviceCall::is_caller_tensor(const Buffer& b) const { return b.space != Space::Record; }

/// A tensor of the caller, or a field of the record.
void DeviceCall::place_tensor(int id) {
  const Buffer& b = buffer(id);
  const bool scattered = options_.scattered && is_caller_tensor(b);
  const std::int64_t gap = scattered ? 3 : 0;
  const std::int64_t count = b.elements();
  const std::int64_t samples = b.batch ? arguments_.batch : 1;
  const std::int64_t steps = b.time ? arguments_.steps : 1;
  const Values* values = given_values(b);
  if (b.space == Space::Initial && values == nullptr) return;
  Place& place = places_[static_cast<std::size_t>(id)];
  place.batch = b.batch ? count + gap : 0;
  place.time = b.time ? place.batch * samples + gap : 0;
  const std::int64_t whole = steps * (place.time + gap) + samples * (count + gap) + gap + 1;
  place.data = allocate(whole * element_bytes(b), b.name).data() + (scattered ? element_bytes(b) : 0);
  if (values == nullptr) return;
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::int64_t e = 0; e < count; ++e) {
        std::byte* at = place.data + (t * place.time + s * place.batch + e) * element_bytes(b);
        write_element(b, at, (*values)[static_cast<std::size_t>((t * samples + s) * count + e)]);
      }
    }
  }
}

void DeviceCall::place_flags(int id, const std::vector<std::uint8_t>& flags) {
  if (flags.empty()) return;
  Place& place = places_[static_cast<std::size_t>(id)];
  place.data = allocate(static_cast<std::int64_t>(flags.size()), buffer(id).name).data();
  place.time = arguments_.batch;
  place.batch = 1;
  const bool is_reset = buffer(id).space == Space::Reset;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const bool masked = is_reset && !arguments_.live.empty() && arguments_.live[i] == 0;
    place.data[i] = static_cast<std::byte>(masked ? 0 : flags[i]);
  }
}

void DeviceCall::place_step_index(int id) {
  if (arguments_.live.empty()) return;
  const std::vector<std::int64_t> indices = step_indices(arguments_);
  Place& place = places_[static_cast<std::size_t>(id)];
  place.data = allocate(static_cast<std::int64_t>(4 * indices.size()), buffer(id).name).data();
  place.time = arguments_.batch;
  place.batch = 1;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    write_element(buffer(id), place.data + 4 * i, static_cast<double>(indices[i]));
  }
}

/// Position among inputs or outputs of a field of the record.
std::size_t DeviceCall::record_field(int field, bool input) const {
  const Cell& cell = plan_.interface;
  const std::size_t count = input ? cell.inputs.size() : cell.outputs.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_record =
        input ? cell.inputs[i].role == InputRole::Record : cell.outputs[i].role == OutputRole::Record;
    if (is_record && field-- == 0) return i;
  }
  return count;
}

const Values* DeviceCall::given_values(const Buffer& b) const {
  const auto index = static_cast<std::size_t>(b.index);
  switch (b.space) {
    case Space::Input: return &arguments_.inputs[index];
    case Space::Param: return &arguments_.params[index];
    case Space::Initial:
      if (index >= arguments_.initial.size() || !arguments_.initial[index]) return nullptr;
      return &*arguments_.initial[index];
    case Space::Record: {
      const std::size_t input = record_field(b.index, true);
      return input < plan_.interface.inputs.size() ? &arguments_.inputs[input] : nullptr;
    }
    default: return nullptr;
  }
}

void DeviceCall::begin_chunk(std::int64_t first, std::int64_t steps) {
  first_ = first;
  header().steps = static_cast<std::int32_t>(steps);
  header().first_processed = arguments_.first_step + first;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Buffer& b = plan_.buffers[i];
    const Place& place = places_[i];
    std::byte* data = place.data;
    std::int64_t time = place.time;
    if (data != nullptr && follows_time(b.space)) {
      if (arguments_.reverse && arguments_.steps > 0) {
        data += (arguments_.steps - 1) * time * element_bytes(b);
        time = -time;
      }
      data += first * time * element_bytes(b);
    }
    entry(static_cast<int>(i)) = {reinterpret_cast<std::uint64_t>(data), time, place.batch};
  }
}

void DeviceCall::exchange_states(const std::vector<std::array<int, 2>>& states) {
  for (const auto& [first, second] : states) {
    std::swap(places_[static_cast<std::size_t>(first)], places_[static_cast<std::size_t>(second)]);
    std::swap(entry(first), entry(second));
  }
}

void DeviceCall::exchange_for_library(const std::vector<std::array<int, 2>>& states, bool odd) {
  exchanged_.clear();
  if (!odd) return;
  for (const auto& [first, second] : states) {
    exchanged_[first] = second;
    exchanged_[second] = first;
  }
}

std::byte* DeviceCall::address(int id, std::int64_t step, std::int64_t sample, std::int64_t element) {
  if (auto it = exchanged_.find(id); it != exchanged_.end()) id = it->second;
  const cuda::TableEntry& e = entry(id);
  const Buffer& b = buffer(id);
  const std::int64_t at = (b.time ? step * e.time : 0) + (b.batch ? sample * e.batch : 0) + element;
  return reinterpret_cast<std::byte*>(e.data) + at * element_bytes(b);
}

double DeviceCall::get(int id, std::int64_t step, std::int64_t sample, std::int64_t element) {
  return read_element(buffer(id), address(id, step, sample, element));
}

void DeviceCall::set(int id, std::int64_t step, std::int64_t sample, std::int64_t element, double value) {
  write_element(buffer(id), address(id, step, sample, element), value);
}

Values DeviceCall::read_back(int id, std::int64_t steps, std::int64_t samples) {
  const Buffer& b = buffer(id);
  const Place& place = places_[static_cast<std::size_t>(id)];
  Values values;
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::int64_t e = 0; e < b.elements(); ++e) {
        values.push_back(read_element(b, place.data + (t * place.time + s * place.batch + e) * element_bytes(b)));
      }
    }
  }
  return values;
}

RunResults DeviceCall::results() {
  const Cell& cell = plan_.interface;
  RunResults results;
  results.outputs.resize(cell.outputs.size());
  results.finals.resize(cell.states.size());
  results.results.resize(cell.results.size());
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& b = plan_.buffers[i];
    const auto id = static_cast<int>(i);
    const auto index = static_cast<std::size_t>(b.index);
    const std::int64_t samples = b.batch ? arguments_.batch : 1;
    switch (b.space) {
      case Space::Output: results.outputs[index] = read_back(id, arguments_.steps, samples); break;
      case Space::Record:
        if (const std::size_t output = record_field(b.index, false); output < cell.outputs.size()) {
          results.outputs[output] = read_back(id, arguments_.steps, samples);
        }
        break;
      case Space::Final: results.finals[index] = read_back(id, 1, samples); break;
      case Space::Result: results.results[index] = read_back(id, 1, samples); break;
      default: break;
    }
  }
  return results;
}

}  // namespace cellfuse::emulation
