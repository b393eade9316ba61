#include "passes/place_buffers.h"

#include <algorithm>
#include <limits>

namespace cellfuse {

namespace {

constexpr std::int64_t kAlignment = 64;      // a cache line, for what there is one of
constexpr std::int64_t kUnitAlignment = 16;  // for what is multiplied by samples or steps

/// Walks the stages in the order they run and notes where each buffer is touched.
class Lifetimes {
 public:
  explicit Lifetimes(Plan& plan) : plan_(plan) {
    for (Buffer& buffer : plan.buffers) {
      buffer.first_use = std::numeric_limits<int>::max();
      buffer.last_use = -1;
    }
  }

  void run() {
    visit(plan_.once);
    visit(plan_.begin);
    repeat(plan_.chunk);
    visit(plan_.end);
    visit(plan_.finish);
  }

 private:
  void visit(const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) {
      if (const auto* loop = std::get_if<TimeLoop>(&stage)) {
        repeat(loop->body);
        continue;
      }
      for (int buffer : touched(stage)) touch(buffer, position_);
      ++position_;
    }
  }

  /// A repeated list keeps what comes from before it or goes past it for its whole length.
  void repeat(const std::vector<Stage>& stages) {
    int begin = position_;
    std::vector<bool> before(plan_.buffers.size());
    for (std::size_t i = 0; i < before.size(); ++i) before[i] = plan_.buffers[i].last_use >= 0;
    visit(stages);
    int end = position_ - 1;
    for (std::size_t i = 0; i < before.size(); ++i) {
      Buffer& buffer = plan_.buffers[i];
      if (buffer.last_use < begin) continue;
      if (before[i]) buffer.last_use = end;
      // All steps of it are kept: it is made in the loop for whoever comes after.
      bool kept = buffer.time && buffer.space == Space::Workspace && &stages != &plan_.chunk;
      if (kept) {
        buffer.first_use = std::min(buffer.first_use, begin);
        buffer.last_use = std::max(buffer.last_use, end);
      }
    }
  }

  void touch(int index, int position) {
    if (index < 0) return;
    Buffer& buffer = plan_.buffers[static_cast<std::size_t>(index)];
    buffer.first_use = std::min(buffer.first_use, position);
    buffer.last_use = std::max(buffer.last_use, position);
  }

  static std::vector<int> touched(const Stage& stage) {
    std::vector<int> found;
    if (const auto* kernel = std::get_if<Kernel>(&stage)) {
      for (const Load& load : kernel->loads) found.push_back(load.buffer);
      for (const Store& store : kernel->stores) found.insert(found.end(), {store.buffer, store.hold});
    } else if (const auto* gemm = std::get_if<Gemm>(&stage)) {
      found = {gemm->a, gemm->b, gemm->c};
    } else if (const auto* pack = std::get_if<Pack>(&stage)) {
      found = {pack->from, pack->to};
    }
    return found;
  }

  Plan& plan_;
  int position_ = 0;
};

std::int64_t align(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

/// First fit, largest first. Returns the size of the arena.
std::int64_t fit(std::vector<Buffer*> buffers, std::int64_t alignment) {
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Buffer* a, const Buffer* b) { return a->bytes() > b->bytes(); });
  std::int64_t total = 0;
  std::vector<const Buffer*> placed;
  for (Buffer* buffer : buffers) {
    std::vector<const Buffer*> neighbours;
    for (const Buffer* other : placed) {
      if (other->first_use <= buffer->last_use && buffer->first_use <= other->last_use) neighbours.push_back(other);
    }
    std::sort(neighbours.begin(), neighbours.end(),
              [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; });
    std::int64_t offset = 0;
    for (const Buffer* other : neighbours) {
      if (offset + buffer->bytes() <= other->offset) break;
      offset = std::max(offset, align(other->offset + other->bytes(), alignment));
    }
    buffer->offset = offset;
    total = std::max(total, align(offset + buffer->bytes(), alignment));
    placed.push_back(buffer);
  }
  return total;
}

}  // namespace

Plan place_buffers(Plan plan) {
  Lifetimes(plan).run();
  std::vector<Buffer*> once;
  std::vector<Buffer*> per_sample;
  std::vector<Buffer*> per_step;
  std::vector<Buffer*> scratch;
  for (Buffer& buffer : plan.buffers) {
    if (buffer.last_use < 0) continue;
    if (buffer.space == Space::Scratch) scratch.push_back(&buffer);
    if (buffer.space != Space::Workspace) continue;
    (buffer.time ? per_step : (buffer.batch ? per_sample : once)).push_back(&buffer);
  }
  plan.arena.once = fit(once, kAlignment);
  plan.arena.per_sample = fit(per_sample, kUnitAlignment);
  plan.arena.per_step = fit(per_step, kUnitAlignment);
  plan.arena.scratch = fit(scratch, kAlignment);
  return plan;
}

}  // namespace cellfuse
