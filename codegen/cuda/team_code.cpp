#include "codegen/cuda/team_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/team_nest.h"

namespace cellfuse::cuda {

namespace {
constexpr int kPartials = -2;
}

void TeamCode::emit() {
  out_.line(fmt::format("using team = Team<{}>;", layout_.team));
  out_.line("const int thread = team::thread();");
  point_to_memory();
  rows();
}

/// Memory of the row: pointers to scratch, to states that the loop keeps here, and to partial totals.
void TeamCode::point_to_memory() {
  const bool in_global_memory = layout_.scratch_bytes > 0;
  if (layout_.shared_bytes > 0) {
    const std::string of_team =
        layout_.rows_per_block > 1 ? fmt::format(" + team::in_block() * {}", layout_.shared_bytes) : "";
    out_.line(fmt::format("unsigned char* const block = shared_memory(){};", of_team));
  }
  if (in_global_memory) {
    out_.line(
        fmt::format("unsigned char* const scratch = call.scratch + block_in_grid() * {}LL;", layout_.scratch_bytes));
  }
  for (const auto& [buffer, offset] : layout_.offsets) {
    const bool is_state = frame_.unit.buffer(buffer).space == Space::State;
    out_.line(fmt::format("Real*{} {} = reinterpret_cast<Real*>({} + {});", is_state ? "" : " const",
                          frame_.pointers.at(buffer), in_global_memory ? "scratch" : "block", offset));
  }
  if (layout_.shared_bytes > layout_.partials) {
    out_.line(fmt::format("Real* const partials = reinterpret_cast<Real*>(block + {});", layout_.partials));
  }
}

bool TeamCode::keeps_memory() const {
  const bool rereads = std::ranges::any_of(layout_.nests, [](const auto& n) { return !n->elements.rereads().empty(); });
  return rereads || !layout_.offsets.empty() || layout_.shared_bytes > 0;
}

void TeamCode::rows() {
  const bool shares_blocks = layout_.scratch_bytes > 0;
  if (shares_blocks) {
    out_.open(fmt::format("for (int row = block_in_grid(); row < {}; row += blocks_in_grid())", head_.rows()));
  } else if (layout_.rows_per_block > 1) {
    out_.line(fmt::format("const int row = block_in_grid() * {} + team::in_block();", layout_.rows_per_block));
    out_.line(fmt::format("if (row >= {}) return;", head_.rows()));
  } else if (layout_.rows != Rows::One) {
    out_.line("const int row = block_in_grid();");
  }
  head_.place_row();
  if (frame_.walk == Walk::None) {
    if (layout_.rows != Rows::One) head_.place_step();
    nests();
  } else {
    steps();
  }
  if (!shares_blocks) return;
  if (keeps_memory()) out_.line("team::sync();");
  out_.close();
}

void TeamCode::steps() {
  if (frame_.walk == Walk::Loop) {
    copy_states(true);
    out_.open("for (int walked = 0; walked < call.steps; ++walked)");
    out_.line(frame_.backward ? "const int time = call.steps - 1 - walked;" : "const int time = walked;");
  } else {
    out_.open("for (int time = first_of_segment(&call, segment); time < first_of_segment(&call, segment + 1); ++time)");
  }
  head_.place_step();
  nests();
  if (keeps_memory()) out_.line("team::sync();");
  if (frame_.walk == Walk::Loop) exchange_states();
  out_.close();
  if (frame_.walk == Walk::Loop) copy_states(false);
}

/// From the first buffer of each state to where the loop keeps it, and back.
void TeamCode::copy_states(bool into_loop) {
  for (const Carried& state : frame_.carried) {
    const std::string field = frame_.unit.field(state.buffers[0]);
    const std::int64_t count = frame_.unit.buffer(state.buffers[0]).elements();
    if (!layout_.shares_state) {
      if (into_loop) continue;
      // After an odd number of steps it is in the other one.
      out_.open("if (call.steps % 2 != 0)");
      out_.open(fmt::format("for (int unit = thread; unit < {}; unit += {})", count, layout_.team));
      out_.line(fmt::format("store(call.{}.row(sample) + unit, read<Real>(call.{}.row(sample) + unit));",
                            frame_.unit.field(state.buffers[1]), field));
      out_.close();
      out_.close();
      continue;
    }
    const std::string& kept = frame_.pointers.at(state.buffers[0]);
    const std::string memory = fmt::format("call.{}.row(sample) + unit", field);
    out_.open(fmt::format("for (int unit = thread; unit < {}; unit += {})", count, layout_.team));
    out_.line(into_loop ? fmt::format("store({} + unit, read<Real>({}));", kept, memory)
                        : fmt::format("store({}, read<Real>({} + unit));", memory, kept));
    out_.close();
  }
  if (into_loop && layout_.shares_state) out_.line("team::sync();");
}

void TeamCode::exchange_states() {
  for (const Carried& state : frame_.carried) {
    if (layout_.shares_state) {
      out_.line(
          fmt::format("exchange({}, {});", frame_.pointers.at(state.buffers[0]), frame_.pointers.at(state.buffers[1])));
    } else {
      out_.line(fmt::format("exchange(call.{}, call.{});", frame_.unit.field(state.buffers[0]),
                            frame_.unit.field(state.buffers[1])));
    }
  }
}

void TeamCode::nests() {
  read_.clear();
  written_.clear();
  for (const auto& body : layout_.nests) {
    synchronise_for(*body);
    nest(*body);
  }
}

void TeamCode::synchronise() {
  out_.line("team::sync();");
  read_.clear();
  written_.clear();
}

void TeamCode::synchronise_for(const NestBody& body) {
  std::set<int> reads = body.elements.rereads();
  std::set<int> writes;
  auto add_writes = [&](const std::vector<StoredElement>& stores) {
    for (const StoredElement& stored : stores) {
      // Each element of a sum over rows belongs to one thread.
      if (stored.store->mode == StoreMode::Set) writes.insert(stored.store->buffer);
    }
  };
  add_writes(body.stores);
  for (const Total& total : body.totals) add_writes(total.stores);
  if (!body.totals.empty()) writes.insert(kPartials);
  auto meet = [](const std::set<int>& a, const std::set<int>& b) {
    return std::ranges::any_of(a, [&](int buffer) { return b.contains(buffer); });
  };
  if (meet(reads, written_) || meet(writes, written_) || meet(writes, read_)) synchronise();
  read_.insert(reads.begin(), reads.end());
  written_.insert(writes.begin(), writes.end());
}

void TeamCode::nest(const NestBody& body) {
  out_.open("");
  TeamNest(frame_, layout_, body, head_.names(), out_).emit();
  out_.close();
}

}  // namespace cellfuse::cuda
