#include "codegen/cuda/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "codegen/cuda/identifiers.h"
#include "ir/diagnostic.h"

namespace cellfuse::cuda {

namespace {

constexpr const char* kHeaderFields[] = {"steps", "samples", "segments",     "scratch_blocks",  "layer",  "direction",
                                         "seed",  "offset",  "first_sample", "first_processed", "scratch"};

void find_slots(const std::vector<Stage>& stages, std::vector<bool>& has_slots) {
  for (const Stage& stage : stages) {
    if (const auto* loop = std::get_if<TimeLoop>(&stage)) find_slots(loop->body, has_slots);
    if (const auto* kernel = std::get_if<Kernel>(&stage)) {
      for (const Store& store : kernel->stores) {
        if (store.mode == StoreMode::Add) has_slots[static_cast<std::size_t>(store.buffer)] = true;
      }
    }
  }
}

}  // namespace

Unit::Unit(const Plan& plan, const EmitOptions& options)
    : plan(plan),
      graph(plan.interface.graph),
      options(options),
      name(identifier(options.name.empty() ? plan.name : options.name)),
      compute(info(plan.dtype).compute),
      real(compute == DType::Float64 ? "double" : "float"),
      has_slots(plan.buffers.size(), false) {
  Names names;
  for (const char* field : kHeaderFields) names.reserve(field);
  for (const Buffer& buffer : plan.buffers) {
    fields.push_back(buffer.space == Space::Scratch ? std::string() : names.unique(buffer.name));
  }
  for (const auto* stages : {&plan.once, &plan.begin, &plan.chunk, &plan.end, &plan.finish}) {
    find_slots(*stages, has_slots);
  }
}

std::int64_t Unit::real_bytes() const { return static_cast<std::int64_t>(info(compute).bytes); }

int Unit::widest_lanes() const { return compute == DType::Float64 ? 2 : 4; }

std::string element_type(const Buffer& buffer) {
  if (buffer.space == Space::Live || buffer.space == Space::Reset) return "unsigned char";
  if (buffer.space == Space::StepIndex) return "int";
  switch (buffer.dtype) {
    case DType::Float16: return "Half";
    case DType::BFloat16: return "BFloat16";
    case DType::Float32: return "float";
    case DType::Float64: return "double";
  }
  throw InternalError("codegen/cuda", "unknown dtype");
}

bool KernelFrame::writes(int buffer) const {
  return std::ranges::any_of(kernel.stores, [&](const Store& store) { return store.buffer == buffer; });
}

const Carried* KernelFrame::state_in(int buffer) const {
  for (const Carried& state : carried) {
    if (state.buffers[0] == buffer || state.buffers[1] == buffer) return &state;
  }
  return nullptr;
}

std::string KernelFrame::index_type() const {
  auto is_large = [](std::int64_t count) { return count > std::numeric_limits<std::int32_t>::max(); };
  bool large = false;
  for (const Load& load : kernel.loads) large |= is_large(unit.buffer(load.buffer).elements());
  for (const Store& store : kernel.stores) large |= is_large(unit.buffer(store.buffer).elements());
  for (const Nest& nest : kernel.nests) large |= is_large(nest.space.count());
  return large ? "long long" : "int";
}

std::string KernelFrame::row_of(int id) const {
  if (auto it = pointers.find(id); it != pointers.end()) return it->second;
  const Buffer& buffer = unit.buffer(id);
  const std::string tensor = "call." + unit.field(id);
  const bool sum_of_rows = unit.has_slots[static_cast<std::size_t>(id)] && writes(id);
  if (sum_of_rows) return kernel.domain == Domain::Once ? tensor + ".data" : tensor + ".row(slot)";
  check_internal(!buffer.time || kernel.domain == Domain::Step, "codegen/cuda", "a kernel without steps reads one");
  check_internal(!buffer.batch || kernel.domain != Domain::Once, "codegen/cuda", "a kernel without samples reads one");
  if (buffer.time) return tensor + (buffer.batch ? ".row(time, sample)" : ".row(time, 0)");
  return tensor + (buffer.batch ? ".row(sample)" : ".data");
}

}  // namespace cellfuse::cuda
