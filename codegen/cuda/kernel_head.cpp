#include "codegen/cuda/kernel_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/diagnostic.h"

namespace cellfuse::cuda {

namespace {

std::string join(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (std::ranges::find(list, word) == list.end()) list.push_back(word);
}

}  // namespace

KernelHead::KernelHead(const KernelFrame& frame, const Layout& layout, Writer& out)
    : frame_(frame), layout_(layout), out_(out) {
  for (const auto& [buffer, name] : frame.pointers) names_.reserve(name);
  for (const auto& [buffer, name] : frame.registers) names_.reserve(name);
  for (const auto& [buffer, name] : frame.uniforms) names_.reserve(name);
  const auto& buffers = frame.unit.plan.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].space == Space::Live) live_buffer_ = static_cast<int>(i);
    if (buffers[i].space == Space::StepIndex) step_buffer_ = static_cast<int>(i);
  }
  find_needs();
}

void KernelHead::find_needs() {
  for (const Load& load : frame_.kernel.loads) needs_live_ |= load.zero_when_masked;
  for (const Store& store : frame_.kernel.stores) {
    needs_live_ |= store.when_masked != WhenMasked::Store;
    find_needs_of(store.buffer);
    if (store.hold >= 0) find_needs_of(store.hold);
    needs_sample_ |= store.mode == StoreMode::Add;
  }
  check_internal(!needs_live_ || live_buffer_ >= 0, "codegen/cuda", "a plan with masks and no buffer for them");
  for (const auto& body : layout_.nests) {
    for (int i = 0; i < body->elements.size(); ++i) find_needs_of(body->elements[i]);
  }
  needs_time_ |= needs_live_ || needs_step_;
  needs_sample_ |= needs_live_ || needs_step_ || frame_.walk == Walk::Loop;
}

void KernelHead::find_needs_of(int buffer) {
  if (frame_.pointers.contains(buffer) || frame_.registers.contains(buffer)) return;
  needs_time_ |= frame_.unit.buffer(buffer).time;
  needs_sample_ |= frame_.unit.buffer(buffer).batch;
}

void KernelHead::find_needs_of(const Element& element) {
  if (element.kind == Element::Kind::Memory) find_needs_of(element.buffer);
  if (element.kind != Element::Kind::Random) return;
  const Node& node = frame_.unit.graph[element.node];
  const bool per_sample = node.begin == 0;
  needs_step_ |= !node.flag && per_sample;
  needs_time_ |= !node.flag;
  needs_sample_ |= per_sample;
}

std::string KernelHead::division() const {
  std::string text;
  switch (layout_.rows) {
    case Rows::One: text = "once"; break;
    case Rows::Samples: text = "for each sample"; break;
    case Rows::Steps: text = "for each sample and step"; break;
    case Rows::Segments: text = "for each sample and segment of steps"; break;
  }
  if (frame_.walk == Walk::Loop) text += ", all steps of a chunk";
  if (frame_.walk == Walk::Segments) text += ", its steps one after the other";
  if (layout_.has_teams) return fmt::format("{}; a team of {} threads a row", text, layout_.team);
  int lanes = 1;
  for (const auto& body : layout_.nests) lanes = std::max(lanes, body->lanes);
  return text + (lanes == 1 ? "; a thread an element" : fmt::format("; a thread {} elements", lanes));
}

std::vector<std::string> KernelHead::computed() const {
  std::vector<std::string> values;
  for (const auto& body : layout_.nests) {
    for (int i = 0; i < body->elements.size(); ++i) {
      const Element& element = body->elements[i];
      if (element.kind == Element::Kind::Apply && !element.hint.empty()) add_once(values, element.hint);
    }
    for (const Total& total : body->totals) {
      const std::string& user = frame_.unit.graph.name(total.root);
      if (!user.empty()) add_once(values, user);
    }
  }
  return values;
}

std::string KernelHead::memory_names(bool written) const {
  std::vector<std::string> names;
  auto add = [&](int id) {
    if (id >= 0 && frame_.unit.buffer(id).space != Space::Scratch) add_once(names, frame_.unit.field(id));
  };
  if (written) {
    for (const Store& store : frame_.kernel.stores) add(store.buffer);
  } else {
    for (const Load& load : frame_.kernel.loads) {
      if (!frame_.writes(load.buffer)) add(load.buffer);
    }
  }
  return join(names);
}

void KernelHead::comment() const {
  out_.comment(fmt::format("{}: {}.", frame_.kernel.name, division()));
  if (auto values = computed(); !values.empty()) out_.comment("  computes " + join(values));
  if (auto names = memory_names(false); !names.empty()) out_.comment("  reads    " + names);
  if (auto names = memory_names(true); !names.empty()) out_.comment("  writes   " + names);
}

void KernelHead::open() {
  const std::string iteration = frame_.in_loop ? "int iteration" : "int";
  out_.open(fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}_{}(const Call* table, {})",
                        layout_.threads, frame_.unit.name, identifier(frame_.kernel.name), iteration));
  const bool exchanges = frame_.in_loop && !frame_.carried.empty();
  out_.line(exchanges ? "Call call = *table;" : "const Call call = *table;");
  out_.line("wait_for_previous_kernel();");
  out_.line("let_next_kernel_start();");
  if (frame_.in_loop) out_.line("if (iteration >= call.steps) return;");
  if (exchanges) exchange_states();
}

/// In odd iterations the second buffer of a state is the current one.
void KernelHead::exchange_states() const {
  std::vector<std::string> exchanges;
  for (const Carried& state : frame_.carried) {
    const bool touched = std::ranges::any_of(state.buffers, [&](int buffer) {
      const auto loads = [&](const Load& load) { return load.buffer == buffer; };
      const auto stores = [&](const Store& store) { return store.buffer == buffer || store.hold == buffer; };
      return std::ranges::any_of(frame_.kernel.loads, loads) || std::ranges::any_of(frame_.kernel.stores, stores);
    });
    if (!touched) continue;
    exchanges.push_back(fmt::format("exchange(call.{}, call.{});", frame_.unit.field(state.buffers[0]),
                                    frame_.unit.field(state.buffers[1])));
  }
  if (exchanges.empty()) return;
  out_.open("if (iteration % 2 != 0)");
  for (const std::string& exchange : exchanges) out_.line(exchange);
  out_.close();
}

std::string KernelHead::rows() const {
  switch (layout_.rows) {
    case Rows::One: return "1";
    case Rows::Samples: return "call.samples";
    case Rows::Steps: return "call.steps * call.samples";
    case Rows::Segments: return "call.segments * call.samples";
  }
  throw InternalError("codegen/cuda", "unknown rows");
}

void KernelHead::place_row(const std::string& number, bool may_be_none) const {
  const bool adds = std::ranges::any_of(frame_.kernel.stores, [](const Store& s) { return s.mode == StoreMode::Add; });
  const std::string none = fmt::format(">= {}) return;", rows());
  if (layout_.rows == Rows::Samples) {
    if (needs_sample_ || may_be_none) out_.line(fmt::format("const int sample = {};", number));
    if (may_be_none) out_.line("if (sample " + none);
    if (adds) out_.line("const int slot = sample;");
  } else if (layout_.rows != Rows::One) {
    out_.line(fmt::format("const int row = {};", number));
    if (may_be_none) out_.line("if (row " + none);
    const bool by_step = layout_.rows == Rows::Steps;
    if (!by_step) out_.line("const int segment = row / call.samples;");
    if (by_step && needs_time_) out_.line("const int time = row / call.samples;");
    if (needs_sample_) out_.line("const int sample = row % call.samples;");
    if (adds) out_.line("const int slot = row;");
  }
  if (frame_.in_loop && needs_time_) {
    out_.line(frame_.backward ? "const int time = call.steps - 1 - iteration;" : "const int time = iteration;");
  }
}

void KernelHead::place_step(const std::string& live) const {
  if (needs_live_) {
    const std::string read = fmt::format("is_live(call.{}, time, sample)", frame_.unit.field(live_buffer_));
    out_.line(fmt::format("const bool live = {};", live.empty() ? read : live));
  }
  if (!needs_step_) return;
  if (step_buffer_ < 0) {
    out_.line("const int step = static_cast<int>(call.first_processed) + time;");
  } else {
    out_.line(
        fmt::format("const int step = index_of_step(call.{}, &call, time, sample);", frame_.unit.field(step_buffer_)));
  }
}

Launch KernelHead::launch() const {
  Launch launch;
  launch.kernel = frame_.unit.name + "_" + identifier(frame_.kernel.name);
  launch.rows = layout_.rows;
  launch.rows_per_block = layout_.rows_per_block;
  launch.blocks_per_row = layout_.blocks_per_row;
  launch.threads = layout_.threads;
  launch.shared_bytes = layout_.shared_bytes * layout_.rows_per_block;
  launch.scratch_bytes = layout_.scratch_bytes;
  std::set<int> reads;
  std::set<int> writes;
  for (const Load& load : frame_.kernel.loads) reads.insert(load.buffer);
  for (const Store& store : frame_.kernel.stores) {
    writes.insert(store.buffer);
    if (store.hold >= 0) reads.insert(store.hold);
    if (store.mode == StoreMode::Add) reads.insert(store.buffer);
  }
  if (needs_live_) reads.insert(live_buffer_);
  if (needs_step_ && step_buffer_ >= 0) reads.insert(step_buffer_);
  auto is_scratch = [&](int id) { return frame_.unit.buffer(id).space == Space::Scratch; };
  std::ranges::copy_if(reads, std::back_inserter(launch.reads), [&](int id) { return !is_scratch(id); });
  std::ranges::copy_if(writes, std::back_inserter(launch.writes), [&](int id) { return !is_scratch(id); });
  return launch;
}

}  // namespace cellfuse::cuda
