#include "codegen/cuda/layout.h"

#include <algorithm>

#include "codegen/cuda/identifiers.h"
#include "ir/diagnostic.h"

namespace cellfuse::cuda {

namespace {

constexpr std::int64_t kBlock = 128;  // threads that a block without teams has at most
constexpr int kWarp = 32;
constexpr int kSmallTeams = 128;  // threads of a block of warps
constexpr int kLargestTeam = 512;
constexpr std::int64_t kAlignment = 16;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t align(std::int64_t bytes) { return ceil_div(bytes, kAlignment) * kAlignment; }

Rows rows_of(const KernelFrame& frame) {
  if (frame.kernel.domain == Domain::Once) return Rows::One;
  if (frame.kernel.domain == Domain::Sample || frame.in_loop) return Rows::Samples;
  switch (frame.walk) {
    case Walk::None: return Rows::Steps;
    case Walk::Segments: return Rows::Segments;
    case Walk::Loop: return Rows::Samples;
  }
  throw InternalError("codegen/cuda", "unknown walk");
}

class Chooser {
 public:
  explicit Chooser(KernelFrame& frame) : frame_(frame) {}

  Layout run() {
    layout_.rows = rows_of(frame_);
    if (can_do_without_teams()) {
      divide_elements();
    } else {
      layout_.has_teams = true;
      divide_rows();
    }
    return std::move(layout_);
  }

 private:
  const Kernel& kernel() const { return frame_.kernel; }

  /// No thread reads what another one makes.
  bool can_do_without_teams() {
    const bool maps = std::ranges::all_of(kernel().nests, [](const Nest& n) { return n.kind == NestKind::Map; });
    if (!maps) return false;
    if (frame_.walk == Walk::Loop && !hold_states_in_registers()) return false;
    layout_.nests.clear();
    for (const Nest& nest : kernel().nests) {
      layout_.nests.push_back(resolve_nest(frame_, nest, Pattern::Each, widest_lanes()));
      if (!layout_.nests.back()->elements.rereads().empty()) return false;
    }
    return true;
  }

  /// Threads of a loop are few and long: narrow ones, so that there are more of them.
  int widest_lanes() const {
    if (frame_.walk == Walk::None) return frame_.unit.widest_lanes();
    return info(frame_.unit.plan.dtype).bytes == 2 ? 2 : 1;
  }

  /// Where each thread reads the states at its own element only. The registers are added to the frame.
  bool hold_states_in_registers() {
    if (kernel().nests.size() != 1) return false;
    const std::unique_ptr<NestBody> body = resolve_nest(frame_, kernel().nests[0], Pattern::Each, widest_lanes());
    std::map<int, codegen::Linear> places;
    for (int i = 0; i < body->elements.size(); ++i) {
      const Element& element = body->elements[i];
      if (element.kind != Element::Kind::Memory || frame_.state_in(element.buffer) == nullptr) continue;
      if (!(element.at == body->unit())) return false;
    }
    for (const StoredElement& stored : body->stores) {
      if (frame_.state_in(stored.store->buffer) != nullptr && !(stored.at == body->unit())) return false;
    }
    for (const Carried& state : frame_.carried) {
      const bool fits = frame_.unit.buffer(state.buffers[0]).elements() == kernel().nests[0].space.count();
      if (!fits) return false;
    }
    for (const Carried& state : frame_.carried) {
      for (int buffer : state.buffers) frame_.registers[buffer] = identifier(frame_.unit.field(buffer));
    }
    return true;
  }

  void divide_elements() {
    for (const auto& body : layout_.nests) layout_.groups = std::max(layout_.groups, body->groups());
    const std::int64_t groups = layout_.groups;
    if (groups <= kBlock) {
      layout_.rows_per_block = layout_.rows == Rows::One ? 1 : kBlock / groups;
      layout_.threads = static_cast<int>(layout_.rows_per_block * groups);
    } else {
      layout_.blocks_per_row = ceil_div(groups, kBlock);
      layout_.threads = static_cast<int>(ceil_div(groups, layout_.blocks_per_row));
    }
  }

  void divide_rows() {
    layout_.nests.clear();
    std::int64_t work = 1;
    for (const Nest& nest : kernel().nests)
      work = std::max(work, ceil_div(nest.space.count(), frame_.unit.widest_lanes()));
    layout_.team = kWarp;
    while (layout_.team < kLargestTeam && layout_.team < work) layout_.team *= 2;
    layout_.rows_per_block = layout_.team == kWarp && layout_.rows != Rows::One ? kSmallTeams / kWarp : 1;
    layout_.threads = static_cast<int>(layout_.team * layout_.rows_per_block);
    place_memory();
    for (const Nest& nest : kernel().nests) {
      const Pattern pattern = choose_pattern(nest, layout_.team);
      layout_.nests.push_back(resolve_nest(frame_, nest, pattern, frame_.unit.widest_lanes()));
    }
    place_partials();
  }

  /// Scratch buffers, and the states of a loop, in shared memory where they fit, all or none.
  void place_memory() {
    std::int64_t bytes = 0;
    Names names;
    auto place = [&](int id) {
      const Buffer& buffer = frame_.unit.buffer(id);
      if (!layout_.offsets.try_emplace(id, bytes).second) return;
      bytes += align(buffer.bytes());
      std::string name = buffer.name;
      if (buffer.space == Space::Scratch) name = name.substr(name.find('.') + 1);
      frame_.pointers[id] = names.unique(name + "_row");
    };
    for (const Store& store : kernel().stores) {
      if (frame_.unit.buffer(store.buffer).space == Space::Scratch) place(store.buffer);
    }
    const std::int64_t limit = frame_.unit.plan.target.shared_bytes / layout_.rows_per_block;
    const std::int64_t room_for_partials = partial_bytes_at_most();
    if (bytes + room_for_partials > limit) {
      layout_.scratch_bytes = bytes;
      layout_.rows_per_block = 1;
      layout_.threads = layout_.team;
      bytes = 0;
    }
    if (frame_.walk == Walk::Loop) {
      std::int64_t states = 0;
      for (const Carried& state : frame_.carried) states += 2 * align(frame_.unit.buffer(state.buffers[0]).bytes());
      layout_.shares_state = layout_.scratch_bytes == 0 && bytes + states + room_for_partials <= limit;
      for (const Carried& state : frame_.carried) {
        for (int buffer : state.buffers) {
          if (layout_.shares_state) place(buffer);
        }
      }
    }
    layout_.shared_bytes = bytes;
  }

  std::int64_t partial_bytes_at_most() const {
    std::int64_t totals = 0;
    for (const Nest& nest : kernel().nests) {
      if (nest.kind != NestKind::Map) totals = std::max(totals, static_cast<std::int64_t>(nest.roots.size()));
    }
    return totals * layout_.team * frame_.unit.real_bytes();
  }

  void place_partials() {
    std::int64_t numbers = 0;
    for (const auto& body : layout_.nests) {
      const auto totals = static_cast<std::int64_t>(body->totals.size());
      const bool by_slices = body->pattern == Pattern::ReduceSlices;
      numbers = std::max(numbers, totals * (by_slices ? layout_.team : layout_.team / kWarp));
    }
    layout_.partials = layout_.shared_bytes;
    layout_.shared_bytes = align(layout_.shared_bytes + numbers * frame_.unit.real_bytes());
  }

  KernelFrame& frame_;
  Layout layout_;
};

}  // namespace

Layout lay_out(KernelFrame& frame) { return Chooser(frame).run(); }

}  // namespace cellfuse::cuda
