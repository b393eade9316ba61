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
    for (const Nest& nest : kernel().nests) {
      work = std::max(work, ceil_div(nest.space.count(), frame_.unit.widest_lanes()));
    }
    layout_.team = kWarp;
    while (layout_.team < kLargestTeam && layout_.team < work) layout_.team *= 2;
    layout_.rows_per_block = layout_.team == kWarp && layout_.rows != Rows::One ? kSmallTeams / kWarp : 1;
    find_uniforms();
    place_partials();
    place_memory();
    layout_.threads = static_cast<int>(layout_.team * layout_.rows_per_block);
    for (const Nest& nest : kernel().nests) {
      layout_.nests.push_back(resolve_nest(frame_, nest, pattern_of(nest), frame_.unit.widest_lanes()));
    }
  }

  Pattern pattern_of(const Nest& nest) const { return choose_pattern(nest, layout_.team); }

  /// Scratch of one element that every thread of the team can have: a total of all, or what is computed of such.
  void find_uniforms() {
    std::set<NodeId> made_by_all;
    for (const Nest& nest : kernel().nests) {
      const bool single = nest.kind == NestKind::Map && nest.space.count() == 1;
      if (single || pattern_of(nest) == Pattern::ReduceAll) made_by_all.insert(nest.roots.begin(), nest.roots.end());
    }
    Names names;
    for (const Store& store : kernel().stores) {
      const Buffer& buffer = frame_.unit.buffer(store.buffer);
      const bool is_uniform = buffer.space == Space::Scratch && buffer.elements() == 1;
      if (is_uniform && made_by_all.contains(store.node))
        frame_.uniforms[store.buffer] = names.unique(local_name(buffer));
    }
  }

  static std::string local_name(const Buffer& buffer) { return buffer.name.substr(buffer.name.find('.') + 1); }

  /// Scratch buffers, and the states of a loop, in shared memory where they fit, all or none.
  void place_memory() {
    const std::int64_t limit = frame_.unit.plan.target.shared_bytes / layout_.rows_per_block;
    std::int64_t bytes = layout_.shared_bytes;
    Names names;
    for (const auto& [buffer, name] : frame_.uniforms) names.reserve(name);
    auto place = [&](int id) {
      const Buffer& buffer = frame_.unit.buffer(id);
      if (!layout_.offsets.try_emplace(id, bytes).second) return;
      bytes += align(buffer.bytes());
      frame_.pointers[id] = names.unique(local_name(buffer) + "_row");
    };
    for (const Store& store : kernel().stores) {
      const bool is_scratch = frame_.unit.buffer(store.buffer).space == Space::Scratch;
      if (is_scratch && !frame_.uniforms.contains(store.buffer)) place(store.buffer);
    }
    if (bytes > limit) return move_to_scratch(bytes);
    if (frame_.walk == Walk::Loop) {
      std::int64_t states = 0;
      for (const Carried& state : frame_.carried) states += 2 * align(frame_.unit.buffer(state.buffers[0]).bytes());
      layout_.shares_state = bytes + states <= limit;
      for (const Carried& state : frame_.carried) {
        for (int buffer : state.buffers) {
          if (layout_.shares_state) place(buffer);
        }
      }
    }
    layout_.shared_bytes = bytes;
  }

  /// Scratch buffers in global memory; what is there for partial totals stays.
  void move_to_scratch(std::int64_t bytes) {
    for (auto& [buffer, offset] : layout_.offsets) offset -= layout_.shared_bytes;
    layout_.scratch_bytes = bytes - layout_.shared_bytes;
    layout_.rows_per_block = 1;
  }

  /// Two areas for partial totals, for one nest and the next.
  void place_partials() {
    std::int64_t numbers = 0;
    for (const Nest& nest : kernel().nests) {
      const auto totals = static_cast<std::int64_t>(nest.roots.size());
      switch (pattern_of(nest)) {
        case Pattern::ReduceAll:
        case Pattern::SumTogether:
          if (layout_.team > kWarp) numbers = std::max(numbers, totals * layout_.team / kWarp);
          break;
        case Pattern::ReduceSlices: numbers = std::max(numbers, totals * layout_.team); break;
        default: break;
      }
    }
    layout_.partials = align(numbers * frame_.unit.real_bytes());
    layout_.shared_bytes = 2 * layout_.partials;
  }

  KernelFrame& frame_;
  Layout layout_;
};

}  // namespace

Layout lay_out(KernelFrame& frame) { return Chooser(frame).run(); }

}  // namespace cellfuse::cuda
