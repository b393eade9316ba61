#include "tests/emulation/device_run.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "codegen/cuda/call.h"
#include "ir/diagnostic.h"
#include "tests/emulation/device_call.h"

namespace cellfuse::emulation {

namespace {

class DeviceRun {
 public:
  DeviceRun(const Plan& plan, const cuda::CudaSource& source, const RunArguments& arguments, const RunOptions& options)
      : plan_(plan),
        source_(source),
        arguments_(arguments),
        options_(options),
        call_(plan, source, arguments, options) {}

  RunResults run() {
    call_.begin_chunk(0, 0);
    act(source_.once);
    act(source_.begin);
    const std::int64_t chunk = call_.chunk_steps();
    const std::int64_t chunks = (arguments_.steps + chunk - 1) / chunk;
    for (std::int64_t i = 0; i < chunks; ++i) {
      const std::int64_t first = (plan_.interface.backward ? chunks - 1 - i : i) * chunk;
      call_.begin_chunk(first, std::min(chunk, arguments_.steps - first));
      act(source_.chunk);
    }
    act(source_.end);
    act(source_.finish);
    return call_.results();
  }

 private:
  void act(const std::vector<cuda::Action>& actions) {
    for (const cuda::Action& action : actions) {
      std::visit([&](const auto& a) { perform(a); }, action);
    }
  }

  void perform(const cuda::Launch& launch) {
    const std::int64_t blocks =
        launch.blocks(call_.steps(), arguments_.batch, options_.segments, options_.scratch_blocks);
    if (blocks == 0) return;
    emulation::launch(launch.kernel, KernelTable::instance().find(launch.kernel),
                      {blocks, launch.threads, launch.shared_bytes}, call_.table(), static_cast<int>(iteration_),
                      options_.schedule, call_.watch());
  }

  void perform(const cuda::LoopRun& loop) {
    for (iteration_ = 0; iteration_ < call_.steps(); ++iteration_) {
      step_ = loop.backward ? call_.steps() - 1 - iteration_ : iteration_;
      call_.exchange_for_library(loop.states, iteration_ % 2 != 0);
      act(loop.body);
    }
    call_.exchange_for_library({}, false);
    if (call_.steps() % 2 != 0) call_.exchange_states(loop.states);
    iteration_ = 0;
    step_ = -1;
  }

  void perform(const Gemm& gemm) {
    const Buffer& a = plan_.buffers[static_cast<std::size_t>(gemm.a)];
    const bool all_steps = a.time && step_ < 0;
    const std::int64_t first = std::max<std::int64_t>(step_, 0);
    const std::int64_t last = all_steps ? call_.steps() : first + 1;
    for (std::int64_t step = first; step < last; ++step) {
      const std::int64_t samples = a.batch ? arguments_.batch : 1;
      for (std::int64_t sample = 0; sample < samples; ++sample) {
        for (std::int64_t r = 0; r < gemm.rows_per_unit; ++r) multiply_row(gemm, step, sample, r);
      }
    }
  }

  void multiply_row(const Gemm& gemm, std::int64_t step, std::int64_t sample, std::int64_t r) {
    const bool linear = gemm.kind == GemmKind::Linear;
    for (std::int64_t i = 0; i < gemm.n; ++i) {
      if (linear) {
        double total = gemm.accumulate ? call_.get(gemm.c, step, sample, r * gemm.n + i) : 0.0;
        for (std::int64_t j = 0; j < gemm.k; ++j) {
          const std::int64_t at = gemm.contract_rows ? j * gemm.n + i : i * gemm.k + j;
          total += call_.get(gemm.a, step, sample, r * gemm.k + j) * call_.get(gemm.b, 0, 0, at);
        }
        call_.set(gemm.c, step, sample, r * gemm.n + i, total);
        continue;
      }
      for (std::int64_t j = 0; j < gemm.k; ++j) {
        const double product =
            call_.get(gemm.a, step, sample, r * gemm.n + i) * call_.get(gemm.b, step, sample, r * gemm.k + j);
        call_.set(gemm.c, 0, 0, i * gemm.k + j, call_.get(gemm.c, 0, 0, i * gemm.k + j) + product);
      }
    }
  }

  const Plan& plan_;
  const cuda::CudaSource& source_;
  const RunArguments& arguments_;
  const RunOptions& options_;
  DeviceCall call_;
  std::int64_t iteration_ = 0;
  std::int64_t step_ = -1;  // of a loop; -1 outside
};

}  // namespace

RunResults run(const Plan& plan, const cuda::CudaSource& source, const RunArguments& arguments,
               const RunOptions& options) {
  return DeviceRun(plan, source, arguments, options).run();
}

}  // namespace cellfuse::emulation
