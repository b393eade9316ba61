#include "codegen/cuda/step_walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace cellfuse::cuda {

namespace {

/// Reads in flight of one thread, over all that it fetches ahead.
constexpr int kReadsInFlight = 32;
constexpr int kDeepest = 8;

}  // namespace

StepWalk::StepWalk(const KernelFrame& frame, const KernelHead& head, NestCode& code, Writer& out)
    : frame_(frame), head_(head), code_(code), out_(out) {
  find_ahead();
}

void StepWalk::find_ahead() {
  const Elements& elements = code_.body().elements;
  Names names;
  if (head_.needs_live()) ahead_.push_back({-1, "bool", names.unique("live_ahead")});
  for (int i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    const bool moves = element.kind == Element::Kind::Memory && frame_.unit.buffer(element.buffer).time;
    if (!moves || frame_.changes(element.buffer) || frame_.registers.contains(element.buffer)) continue;
    ahead_.push_back({i, code_.statements().type(element.vector), names.unique(element.hint + "_ahead")});
  }
  depth_ = std::clamp(kReadsInFlight / std::max(static_cast<int>(ahead_.size()), 1), 2, kDeepest);
  while ((depth_ & (depth_ - 1)) != 0) --depth_;
}

void StepWalk::emit() {
  for (const Ahead& ahead : ahead_) code_.statements().names().reserve(ahead.array);
  code_.statements().declare(out_, [](const Element& element) { return !element.follows_time; });
  load_states();
  open_sums();
  steps();
  close_sums();
  store_states();
}

void StepWalk::open_sums() {
  const NestBody& body = code_.body();
  for (const StoredElement& stored : body.stores) {
    if (stored.store->mode != StoreMode::Add) continue;
    const std::string name = code_.statements().names().unique(frame_.unit.field(stored.store->buffer) + "_sum");
    sums_[&stored] = name;
    out_.line(fmt::format("{} {}(0);", code_.statements().type(code_.is_vector(stored)), name));
  }
  code_.keep_sums(sums_);
}

void StepWalk::close_sums() {
  for (const StoredElement& stored : code_.body().stores) {
    auto it = sums_.find(&stored);
    if (it == sums_.end()) continue;
    Statements& statements = code_.statements();
    const bool vector = code_.is_vector(stored);
    const std::string sum = statements.load(stored.store->buffer, stored.at, vector) + " + " + it->second;
    out_.line(statements.store(stored.store->buffer, stored.at, sum, vector));
  }
}

/// A state before the steps; what the loop makes of it goes into a second variable.
void StepWalk::load_states() {
  if (frame_.walk != Walk::Loop) return;
  KernelFrame memory = frame_;
  memory.registers.clear();
  Statements statements(memory, code_.body().elements, code_.body().variables, {});
  for (const Carried& state : frame_.carried) {
    const std::string from = statements.load(state.buffers[0], code_.body().unit(), code_.body().lanes > 1);
    out_.line(fmt::format("{} {} = {};", state_type(), frame_.registers.at(state.buffers[0]), from));
  }
}

void StepWalk::store_states() {
  if (frame_.walk != Walk::Loop) return;
  KernelFrame memory = frame_;
  memory.registers.clear();
  Statements statements(memory, code_.body().elements, code_.body().variables, {});
  for (const Carried& state : frame_.carried) {
    const std::string& value = frame_.registers.at(state.buffers[0]);
    out_.line(statements.store(state.buffers[0], code_.body().unit(), value, code_.body().lanes > 1));
  }
}

std::string StepWalk::state_type() const { return code_.statements().type(code_.body().lanes > 1); }

std::string StepWalk::time_of(const std::string& walked) const {
  if (frame_.walk == Walk::Segments) return "from + " + walked;
  return frame_.backward ? "steps - 1 - " + walked : walked;
}

std::string StepWalk::fetch(const Ahead& ahead) const {
  if (ahead.element < 0) {
    return fmt::format("is_live(call.{}, time, sample)", frame_.unit.field(head_.live_buffer()));
  }
  const Element& element = code_.body().elements[ahead.element];
  return code_.statements().load(element.buffer, element.at, element.vector);
}

void StepWalk::fetch_function() {
  for (const Ahead& ahead : ahead_) out_.line(fmt::format("{} {}[kAhead];", ahead.type, ahead.array));
  out_.open("const auto fetch = [&](int place, int time)");
  for (const Ahead& ahead : ahead_) out_.line(fmt::format("{}[place] = {};", ahead.array, fetch(ahead)));
  out_.close(";");
}

void StepWalk::steps() {
  if (frame_.walk == Walk::Segments) {
    out_.line("const int from = first_of_segment(&call, segment);");
    out_.line("const int steps = first_of_segment(&call, segment + 1) - from;");
  } else {
    out_.line("const int steps = call.steps;");
  }
  if (ahead_.empty()) {
    out_.open("for (int walked = 0; walked < steps; ++walked)");
    step();
    out_.close();
    return;
  }
  out_.line(fmt::format("constexpr int kAhead = {};", depth_));
  fetch_function();
  out_.line("#pragma unroll");
  out_.open("for (int place = 0; place < kAhead; ++place)");
  out_.line(fmt::format("if (place < steps) fetch(place, {});", time_of("place")));
  out_.close();
  out_.open("for (int first = 0; first < steps; first += kAhead)");
  out_.line("#pragma unroll");
  out_.open("for (int place = 0; place < kAhead; ++place)");
  out_.line("const int walked = first + place;");
  out_.line("if (walked >= steps) break;");
  step();
  out_.close();
  out_.close();
}

void StepWalk::step() {
  if (head_.needs_time()) out_.line(fmt::format("const int time = {};", time_of("walked")));
  const bool has_mask = !ahead_.empty() && ahead_[0].element < 0;
  head_.place_step(has_mask ? ahead_[0].array + "[place]" : "");
  for (const Ahead& ahead : ahead_) {
    if (ahead.element >= 0) code_.statements().replace(ahead.element, ahead.array + "[place]");
  }
  code_.statements().declare(out_, [&](const Element& element) {
    return element.kind == Element::Kind::Memory && !frame_.changes(element.buffer);
  });
  if (!ahead_.empty()) {
    out_.line(fmt::format("if (walked + kAhead < steps) fetch(place, {});", time_of("(walked + kAhead)")));
  }
  code_.declare(out_, 1);
  for (const Carried& state : frame_.carried) {
    if (frame_.walk != Walk::Loop) continue;
    out_.line(fmt::format("{} {};", state_type(), frame_.registers.at(state.buffers[1])));
  }
  code_.store(out_, code_.body().stores);
  for (const Carried& state : frame_.carried) {
    if (frame_.walk != Walk::Loop) continue;
    out_.line(fmt::format("{} = {};", frame_.registers.at(state.buffers[0]), frame_.registers.at(state.buffers[1])));
  }
}

}  // namespace cellfuse::cuda
