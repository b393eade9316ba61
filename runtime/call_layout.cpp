#include "runtime/call_layout.h"

#include <algorithm>

#include "runtime/checked.h"

namespace cellfuse {

namespace {

constexpr std::int64_t kAlignment = 64;
constexpr const char* kWhat = "bytes of workspace";

std::int64_t times(std::int64_t a, std::int64_t b) { return checked_multiply(a, b, kWhat); }

/// Hands out aligned room.
class Room {
 public:
  std::int64_t take(std::int64_t bytes) {
    const std::int64_t at = used_;
    used_ = checked_add(used_, checked_add(bytes, kAlignment - 1, kWhat) / kAlignment * kAlignment, kWhat);
    return at;
  }
  std::int64_t used() const { return used_; }

 private:
  std::int64_t used_ = 0;
};

/// Memory of the arenas, by the class of the buffer.
class GroupPlanner {
 public:
  GroupPlanner(const Plan& plan, std::int64_t samples, std::int64_t chunk, const std::vector<bool>& is_given)
      : plan_(plan), samples_(samples), chunk_(chunk), is_given_(is_given) {
    layout_.offset.assign(plan.buffers.size(), -1);
  }

  GroupLayout run() {
    place_arenas();
    for_each([&](const Buffer& buffer) { return buffer.space == Space::State; });
    layout_.accumulators = room_.used();
    for_each([&](const Buffer& buffer) { return buffer.space == Space::Accumulator; });
    layout_.accumulators_end = room_.used();
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (is_caller_output(plan_.buffers[i].space) && plan_.buffers[i].batch && !is_given_[i]) place(i);
    }
    layout_.bytes = room_.used();
    return std::move(layout_);
  }

 private:
  void place_arenas() {
    const std::int64_t steps = times(samples_, chunk_);
    const std::int64_t per_step = room_.take(times(plan_.arena.per_step, steps));
    const std::int64_t per_sample = room_.take(times(plan_.arena.per_sample, samples_));
    const std::int64_t scratch = room_.take(plan_.arena.scratch);
    layout_.scratch_bytes = plan_.arena.scratch;
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& buffer = plan_.buffers[i];
      if (buffer.space == Space::Scratch) layout_.offset[i] = scratch + buffer.offset;
      if (buffer.space != Space::Workspace || !buffer.batch) continue;
      layout_.offset[i] = buffer.time ? per_step + buffer.offset * steps : per_sample + buffer.offset * samples_;
    }
  }

  template <typename Condition>
  void for_each(Condition condition) {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (condition(plan_.buffers[i])) place(i);
    }
  }

  void place(std::size_t i) {
    const Buffer& buffer = plan_.buffers[i];
    const std::int64_t units = (buffer.batch ? samples_ : 1) * (buffer.time ? chunk_ : 1);
    layout_.offset[i] = room_.take(times(buffer.bytes(), units));
  }

  const Plan& plan_;
  std::int64_t samples_;
  std::int64_t chunk_;
  const std::vector<bool>& is_given_;
  GroupLayout layout_;
  Room room_;
};

/// Bytes for each step and sample of a chunk: the arena, and outputs nobody wants.
std::int64_t chunk_bytes(const Plan& plan, const std::vector<bool>& is_given) {
  std::int64_t bytes = plan.arena.per_step;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (is_caller_output(buffer.space) && buffer.time && !is_given[i]) bytes += buffer.bytes();
  }
  return bytes;
}

std::int64_t choose_chunk(const Plan& plan, std::int64_t steps, std::int64_t batch, std::int64_t limit,
                          const std::vector<bool>& is_given) {
  const std::int64_t fixed = checked_add(plan.arena.once, times(plan.arena.per_sample, batch), kWhat);
  const std::int64_t step = times(chunk_bytes(plan, is_given), batch);
  if (step == 0) return std::max<std::int64_t>(steps, 1);
  return std::clamp<std::int64_t>((limit - fixed) / step, 1, std::max<std::int64_t>(steps, 1));
}

}  // namespace

bool is_caller_output(Space space) { return space == Space::Output || space == Space::Final || space == Space::Result; }

std::int64_t CallLayout::group_start(int group) const {
  std::int64_t start = shared_bytes;
  for (int g = 0; g < group; ++g) start += groups[static_cast<std::size_t>(g)].bytes;
  return start;
}

CallLayout lay_out(const Plan& plan, std::int64_t steps, const BatchGroups& groups, std::int64_t limit,
                   const std::vector<bool>& is_given) {
  CallLayout layout;
  layout.chunk = choose_chunk(plan, steps, groups.first.back(), limit, is_given);
  layout.offset.assign(plan.buffers.size(), -1);
  Room room;
  const std::int64_t once = room.take(plan.arena.once);
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    const bool is_read = buffer.space == Space::Input || buffer.space == Space::Initial;
    if (is_read && !is_given[i]) layout.zeros_bytes = std::max(layout.zeros_bytes, buffer.bytes());
    if (buffer.batch) continue;
    if (buffer.space == Space::Workspace) layout.offset[i] = once + buffer.offset;
    if (is_caller_output(buffer.space) && !is_given[i]) layout.offset[i] = room.take(buffer.bytes());
  }
  layout.zeros = room.take(layout.zeros_bytes);
  layout.shared_bytes = room.used();
  layout.bytes = layout.shared_bytes;
  for (int g = 0; g < groups.count(); ++g) {
    layout.groups.push_back(GroupPlanner(plan, groups.samples(g), layout.chunk, is_given).run());
    layout.bytes = checked_add(layout.bytes, layout.groups.back().bytes, kWhat);
  }
  return layout;
}

MemoryUse memory_use(const Plan& plan, std::int64_t steps, const BatchGroups& groups, std::int64_t limit) {
  const CallLayout layout = lay_out(plan, steps, groups, limit, std::vector<bool>(plan.buffers.size(), true));
  MemoryUse use;
  for (const GroupLayout& group : layout.groups) {
    use.scratch += group.scratch_bytes;
    use.accumulators += group.accumulators_end - group.accumulators;
  }
  use.workspace = layout.bytes - use.scratch - use.accumulators;
  const std::int64_t rows = checked_multiply(steps, groups.first.back(), "steps x samples");
  for (const Buffer& buffer : plan.buffers) {
    const bool is_byte = buffer.space == Space::Live || buffer.space == Space::Reset;
    const std::int64_t bytes = is_byte ? 1 : (buffer.space == Space::StepIndex ? 4 : 0);
    use.flags = checked_add(use.flags, checked_multiply(rows, bytes, "bytes of flags"), "bytes of flags");
  }
  return use;
}

}  // namespace cellfuse
