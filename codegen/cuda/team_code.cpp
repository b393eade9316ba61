#include "codegen/cuda/team_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/team_nest.h"

namespace cellfuse::cuda {

void TeamCode::emit() {
  out_.line(fmt::format("using team = Team<{}>;", layout_.team));
  out_.line("const int thread = team::thread();");
  point_to_memory();
  rows();
}

/// Memory of the row: pointers to scratch, and to states that the loop keeps here.
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
    const std::string memory = in_global_memory ? "scratch" : "block";
    out_.line(fmt::format("Real*{} {} = reinterpret_cast<Real*>({});", is_state ? "" : " const",
                          frame_.pointers.at(buffer), offset == 0 ? memory : fmt::format("{} + {}", memory, offset)));
  }
}

bool TeamCode::keeps_memory() const {
  const bool rereads = std::ranges::any_of(layout_.nests, [](const auto& n) { return !n->elements.rereads().empty(); });
  return rereads || !layout_.offsets.empty() || layout_.shared_bytes > 0;
}

void TeamCode::rows() {
  const bool shares_blocks = layout_.scratch_bytes > 0;
  std::string row = "block_in_grid()";
  if (shares_blocks) {
    row = "row_of_block";
    out_.open(fmt::format("for (int {0} = block_in_grid(); {0} < {1}; {0} += blocks_in_grid())", row, head_.rows()));
  } else if (layout_.rows_per_block > 1) {
    row = fmt::format("block_in_grid() * {} + team::in_block()", layout_.rows_per_block);
  }
  head_.place_row(row, layout_.rows_per_block > 1);
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
    if (head_.needs_time()) {
      out_.line(frame_.backward ? "const int time = call.steps - 1 - walked;" : "const int time = walked;");
    }
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
  for (const auto& [buffer, name] : frame_.uniforms) out_.line(fmt::format("Real {};", name));
  int area = 0;
  for (const auto& body : layout_.nests) {
    synchronise_for(*body);
    out_.open("");
    TeamNest nest(frame_, layout_, *body, head_.names(), out_);
    if (nest.needs_partials()) nest.set_partials(fmt::format("block + {}", area++ % 2 * layout_.partials));
    nest.emit();
    out_.close();
  }
}

void TeamCode::synchronise_for(const NestBody& body) {
  const std::set<int>& reads = body.elements.rereads();
  std::set<int> writes = written_by(body.stores);
  std::set<int> writes_of_totals;
  std::set<int> held;
  for (const Total& total : body.totals) {
    writes_of_totals.merge(written_by(total.stores));
    for (const StoredElement& stored : total.stores) {
      if (stored.store->when_masked == WhenMasked::Hold) held.insert(stored.store->hold);
    }
  }
  writes.insert(writes_of_totals.begin(), writes_of_totals.end());
  auto meet = [](const std::set<int>& a, const std::set<int>& b) {
    return std::ranges::any_of(a, [&](int buffer) { return b.contains(buffer); });
  };
  if (meet(reads, written_) || meet(writes, written_) || meet(writes, read_)) {
    out_.line("team::sync();");
    read_.clear();
    written_.clear();
  }
  if (synchronises(body)) {
    read_ = held;
    written_ = writes_of_totals;
  } else {
    read_.insert(reads.begin(), reads.end());
    written_.merge(writes);
  }
}

/// Buffers that threads write for others to read.
std::set<int> TeamCode::written_by(const std::vector<StoredElement>& stores) const {
  std::set<int> writes;
  for (const StoredElement& stored : stores) {
    // Each element of a sum over rows belongs to one thread.
    const bool is_own = stored.store->mode == StoreMode::Add || frame_.uniforms.contains(stored.store->buffer);
    if (!is_own) writes.insert(stored.store->buffer);
  }
  return writes;
}

/// Whether all threads wait for each other between reading the elements and storing the totals.
bool TeamCode::synchronises(const NestBody& body) const {
  constexpr int kWarp = 32;
  return body.pattern == Pattern::ReduceSlices || (body.pattern == Pattern::ReduceAll && layout_.team > kWarp);
}

}  // namespace cellfuse::cuda
