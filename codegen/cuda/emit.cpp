#include "codegen/cuda/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/kernel_code.h"
#include "codegen/cuda/move_code.h"
#include "codegen/cuda/table_code.h"
#include "ir/diagnostic.h"

namespace cellfuse::cuda {

namespace {

class Emitter {
 public:
  Emitter(const Plan& plan, const EmitOptions& options) : unit_(plan, options) {}

  CudaSource run() {
    CudaSource source;
    source.name = unit_.name;
    source.has_slots = unit_.has_slots;
    out_.line(fmt::format("namespace {} {{", unit_.name));
    out_.blank();
    emit_table(unit_, out_);
    const Plan& plan = unit_.plan;
    source.once = stages(plan.once, nullptr);
    source.begin = stages(plan.begin, nullptr);
    source.chunk = stages(plan.chunk, nullptr);
    source.end = add_up(true);
    append(source.end, stages(plan.end, nullptr));
    source.finish = add_up(false);
    append(source.finish, stages(plan.finish, nullptr));
    out_.line(fmt::format("}}  // namespace {}", unit_.name));
    source.kernels = out_.text();
    return source;
  }

 private:
  static void append(std::vector<Action>& list, std::vector<Action> more) {
    std::move(more.begin(), more.end(), std::back_inserter(list));
  }

  std::vector<Action> stages(const std::vector<Stage>& list, const TimeLoop* loop) {
    std::vector<Action> actions;
    for (const Stage& stage : list) {
      std::visit([&](const auto& s) { add(s, loop, actions); }, stage);
    }
    return actions;
  }

  void add(const Exchange&, const TimeLoop*, std::vector<Action>&) {}

  void add(const Gemm& gemm, const TimeLoop*, std::vector<Action>& actions) {
    check_internal(gemm.code == GemmCode::Library, "codegen/cuda", "a matrix product that is to be emitted");
    actions.emplace_back(gemm);
  }

  void add(const Pack& pack, const TimeLoop*, std::vector<Action>& actions) {
    actions.emplace_back(emit_pack(unit_, pack, out_));
  }

  void add(const Kernel& kernel, const TimeLoop* loop, std::vector<Action>& actions) {
    KernelFrame frame{unit_, kernel, Walk::None, false, false, {}, {}, {}, {}};
    const bool adds = std::ranges::any_of(kernel.stores, [](const Store& s) { return s.mode == StoreMode::Add; });
    if (loop != nullptr) {
      frame.in_loop = true;
      frame.backward = loop->backward;
      frame.carried = loop->carried;
    } else if (kernel.domain == Domain::Step && adds) {
      frame.walk = Walk::Segments;
    }
    actions.emplace_back(emit_kernel(frame, out_));
  }

  void add(const TimeLoop& loop, const TimeLoop*, std::vector<Action>& actions) {
    if (loop.strategy == Strategy::Scan) {
      for (const Stage& stage : loop.body) {
        if (std::holds_alternative<Exchange>(stage)) continue;
        const auto* kernel = std::get_if<Kernel>(&stage);
        check_internal(kernel != nullptr && loop.body.size() == 1, "codegen/cuda", "a scan of more than one kernel");
        KernelFrame frame{unit_, *kernel, Walk::Loop, false, loop.backward, loop.carried, {}, {}, {}};
        actions.emplace_back(emit_kernel(frame, out_));
      }
      return;
    }
    if (loop.strategy != Strategy::Stepwise) {
      throw UsageError(fmt::format("the strategy {} is not there for CUDA", name(loop.strategy)));
    }
    LoopRun run;
    run.name = loop.name;
    run.backward = loop.backward;
    run.body = stages(loop.body, &loop);
    for (const Carried& state : loop.carried) run.states.push_back({state.buffers[0], state.buffers[1]});
    actions.emplace_back(std::move(run));
  }

  /// Adds up the slots of the accumulators: those of each sample before `end`, the others before `finish`.
  std::vector<Action> add_up(bool of_samples) {
    std::vector<Action> actions;
    for (std::size_t i = 0; i < unit_.plan.buffers.size(); ++i) {
      if (!unit_.has_slots[i] || unit_.plan.buffers[i].batch != of_samples) continue;
      actions.emplace_back(emit_add_up(unit_, static_cast<int>(i), out_));
    }
    return actions;
  }

  Unit unit_;
  Writer out_;
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::int64_t Launch::blocks(std::int64_t steps, std::int64_t samples, std::int64_t segments,
                            std::int64_t scratch_blocks) const {
  std::int64_t count = 1;
  switch (rows) {
    case Rows::One: break;
    case Rows::Samples: count = samples; break;
    case Rows::Steps: count = steps * samples; break;
    case Rows::Segments: count = segments * samples; break;
  }
  const std::int64_t blocks = ceil_div(count, rows_per_block) * blocks_per_row;
  return scratch_bytes > 0 ? std::min(blocks, scratch_blocks) : blocks;
}

CudaSource emit(const Plan& plan, const EmitOptions& options) { return Emitter(plan, options).run(); }

std::string CudaSource::text() const { return prelude() + "\n" + kernels; }

}  // namespace cellfuse::cuda
