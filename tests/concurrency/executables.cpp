// Many threads compile and run at once; each result must be that of a single thread, to the bit.
#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include "tests/support/executable_run.h"
#include "tests/support/random_cells.h"
#include "tests/support/tanh_cell.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr int kThreads = 6;

CompileOptions options(int threads) {
  CompileOptions options;
  options.device = test_device();
  options.threads = threads;
  return options;
}

template <typename Function>
void at_once(Function function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&function, i] { function(i); });
  for (std::thread& thread : threads) thread.join();
}

bool same(const TrainingRun& a, const TrainingRun& b) {
  return a.forward.outputs == b.forward.outputs && a.forward.finals == b.forward.finals &&
         a.gradients.params == b.gradients.params && a.gradients.inputs == b.gradients.inputs;
}

}  // namespace

TEST_CASE("one executable, called by many threads") {
  const Cell cell = tanh_cell(8, 16);
  const RunArguments arguments = RandomRun(1).arguments(cell, 20, 9);
  const Weights weights = RandomRun(2).weights(cell, arguments, true, true);
  const Executable executable = compile(cell, options(3));
  const TrainingRun want = run_training(executable, cell, arguments, weights);
  std::atomic<int> wrong{0};
  at_once([&](int) {
    for (int round = 0; round < 20; ++round) {
      if (!same(run_training(executable, cell, arguments, weights), want)) ++wrong;
    }
  });
  CHECK(wrong == 0);
  CHECK(executable.compilations() == 1);
}

TEST_CASE("many threads bind open dimensions") {
  const Executable executable = compile(tanh_template(), options(2));
  std::atomic<int> wrong{0};
  at_once([&](int thread) {
    const Cell cell = tanh_cell(2, 3 + thread % 2);
    const RunArguments arguments = RandomRun(1).arguments(cell, 3, 2);
    const RunResults want = expect_forward(cell, arguments);
    const RunResults got = run_forward(executable, cell, arguments);
    if (scaled_error(TrainingRun{got, {}}, TrainingRun{want, {}}) > 1e-5) ++wrong;
  });
  CHECK(wrong == 0);
  CHECK(executable.compilations() == 2);
}

TEST_CASE("many threads compile different cells") {
  std::atomic<int> wrong{0};
  at_once([&](int thread) {
    for (int round = 0; round < 4; ++round) {
      const Cell cell = random_cell(static_cast<std::uint32_t>(1 + thread * 4 + round));
      const RunArguments arguments = RandomRun(7).arguments(cell, 4, 3);
      CompileOptions precise = options(2);
      precise.dtype = DType::Float64;
      const RunResults want = expect_forward(cell, arguments);
      const RunResults got = run_forward(compile(cell, precise), cell, arguments);
      if (scaled_error(TrainingRun{got, {}}, TrainingRun{want, {}}) > 1e-9) ++wrong;
    }
  });
  CHECK(wrong == 0);
}
