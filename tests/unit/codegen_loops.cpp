// Loops over time in compiled code: which buffer the state is in, chunks, masks, scans beside step-by-step loops.
#if CELLFUSE_CPU_JIT

#include <cmath>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "tests/support/hand_plan.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

struct LoopCase {
  Strategy strategy = Strategy::Stepwise;
  bool backward = false;
  std::int64_t size = 1;
  std::int64_t steps = 1;
  std::int64_t samples = 1;
  std::vector<std::int64_t> chunks{};
  bool masked = false;
  DType dtype = DType::Float64;
};

struct LoopResult {
  std::vector<double> outputs;
  std::vector<double> state;
  std::vector<double> total;
};

/// h' = tanh(a * h + x * h0), y = h' + h, total += y; masked steps hold h, give 0, and add nothing.
class StateLoop {
 public:
  explicit StateLoop(const LoopCase& c) : case_(c), hand_(c.dtype) {
    const Shape shape{c.size};
    Kernel kernel;
    kernel.name = "cell";
    x_ = hand_.given(kernel, shape);
    a_ = hand_.given(kernel, shape, false, false);
    g_ = hand_.given(kernel, shape, false, true);
    kernel.loads[0].zero_when_masked = true;
    const Expr h = leaf(hand_.graph(), Op::State, 0, shape);
    const int before = hand_.buffer(Space::State, shape, hand_.compute(), false, true);
    const int after = hand_.buffer(Space::State, shape, hand_.compute(), false, true);
    kernel.loads.push_back({h.id, before});
    const Expr next = tanh(a_ * h + x_ * g_);
    const Expr y = next + h;
    live_ = hand_.flags(Space::Live);
    Store state;
    state.node = next.id;
    state.buffer = after;
    state.when_masked = WhenMasked::Hold;
    state.hold = before;
    kernel.stores.push_back(state);
    y_ = hand_.kept(kernel, y);
    kernel.stores.back().when_masked = WhenMasked::Zero;
    total_ = hand_.buffer(Space::Accumulator, shape, hand_.compute(), false, false);
    Store total;
    total.node = y.id;
    total.buffer = total_;
    total.mode = StoreMode::Add;
    total.when_masked = WhenMasked::Zero;
    kernel.stores.push_back(total);
    kernel.nests.push_back({NestKind::Map, shape, 0, {next.id, y.id}, {}});
    buffers_ = {hand_.buffer_of(kernel, x_), hand_.buffer_of(kernel, a_), hand_.buffer_of(kernel, g_)};
    state_ = before;

    TimeLoop loop;
    loop.name = "loop";
    loop.strategy = c.strategy;
    loop.backward = c.backward;
    Carried carried;
    carried.leaf = h.id;
    carried.next = next.id;
    carried.buffers[0] = before;
    carried.buffers[1] = after;
    loop.carried.push_back(carried);
    loop.body.emplace_back(kernel);
    hand_.plan.chunk.emplace_back(loop);
  }

  LoopResult run() {
    hand_.allocate(case_.steps, case_.samples);
    std::mt19937 random(static_cast<unsigned>(case_.size));
    auto fill = [&](int buffer) {
      auto values = rounded(numbers(random, hand_.count(buffer), -1, 1),
                            hand_.plan.buffers[static_cast<std::size_t>(buffer)].dtype);
      hand_.set(buffer, values);
      return values;
    };
    x_values_ = fill(buffers_[0]);
    a_values_ = fill(buffers_[1]);
    g_values_ = fill(buffers_[2]);
    initial_ = fill(state_);
    live_values_.assign(static_cast<std::size_t>(case_.steps * case_.samples), 1);
    if (case_.masked) {
      for (double& flag : live_values_) flag = random() % 3 != 0 ? 1 : 0;
      for (std::size_t i = 0; i < x_values_.size(); ++i) {
        if (live_values_[i / static_cast<std::size_t>(case_.size)] == 0) x_values_[i] = std::nan("");
      }
      hand_.set(buffers_[0], x_values_);
    }
    hand_.set(live_, live_values_);
    std::vector<std::int64_t> chunks = case_.chunks.empty() ? std::vector{case_.steps} : case_.chunks;
    std::int64_t done = 0;
    for (std::int64_t steps : chunks)
      run_chunk(case_.backward ? case_.steps - done - steps : done, steps), done += steps;
    return {hand_.get(y_), hand_.get(state_), hand_.get(total_)};
  }

  LoopResult expected() const {
    const auto size = static_cast<std::size_t>(case_.size);
    const auto samples = static_cast<std::size_t>(case_.samples);
    LoopResult result{std::vector<double>(x_values_.size(), 0.0), initial_, std::vector<double>(size, 0.0)};
    for (std::size_t i = 0; i < static_cast<std::size_t>(case_.steps); ++i) {
      const std::size_t t = case_.backward ? static_cast<std::size_t>(case_.steps) - 1 - i : i;
      for (std::size_t s = 0; s < samples; ++s) {
        if (live_values_[t * samples + s] == 0) continue;
        for (std::size_t e = 0; e < size; ++e) {
          double& h = result.state[s * size + e];
          const std::size_t at = (t * samples + s) * size + e;
          const double next = std::tanh(a_values_[e] * h + x_values_[at] * g_values_[s * size + e]);
          result.outputs[at] = next + h;
          result.total[e] += next + h;
          h = next;
        }
      }
    }
    return result;
  }

 private:
  void run_chunk(std::int64_t first, std::int64_t steps) {
    cpu::Frame frame = hand_.frame();
    frame.steps = steps;
    std::vector<std::byte*> data(frame.data, frame.data + hand_.plan.buffers.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (hand_.plan.buffers[i].time) frame.data[i] += first * frame.time_stride[i];
    }
    hand_.code().chunk()(&frame);
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (hand_.plan.buffers[i].time) frame.data[i] = data[i];
    }
  }

  LoopCase case_;
  HandPlan hand_;
  Expr x_, a_, g_;
  std::vector<int> buffers_;
  int live_ = -1;
  int state_ = -1;
  int y_ = -1;
  int total_ = -1;
  std::vector<double> x_values_, a_values_, g_values_, initial_, live_values_;
};

void check_loop(const LoopCase& c) {
  CAPTURE(name(c.strategy));
  CAPTURE(c.backward);
  CAPTURE(c.size);
  CAPTURE(c.steps);
  CAPTURE(c.samples);
  CAPTURE(c.chunks.size());
  CAPTURE(c.masked);
  CAPTURE(info(c.dtype).name);
  StateLoop loop(c);
  const LoopResult got = loop.run();
  const LoopResult want = loop.expected();
  const double tolerance = 20 * operation_tolerance(c.dtype);
  CHECK(worst_error(got.outputs, want.outputs) < tolerance);
  CHECK(worst_error(got.state, want.state) < tolerance);
  CHECK(worst_error(got.total, want.total) < tolerance * 10);
}

}  // namespace

TEST_CASE("the current state is in the first buffer after any number of steps") {
  for (Strategy strategy : {Strategy::Stepwise, Strategy::Scan}) {
    for (bool backward : {false, true}) {
      for (std::int64_t steps : {0, 1, 2, 7}) {
        for (std::int64_t samples : {0, 1, 3}) {
          check_loop({.strategy = strategy, .backward = backward, .size = 5, .steps = steps, .samples = samples});
        }
      }
    }
  }
}

TEST_CASE("a sequence in chunks is the whole sequence") {
  for (Strategy strategy : {Strategy::Stepwise, Strategy::Scan}) {
    for (bool backward : {false, true}) {
      for (const std::vector<std::int64_t>& chunks :
           {std::vector<std::int64_t>{3, 4}, {1, 1, 5}, {2, 2, 2, 1}, {7, 0}, {0, 1, 6}}) {
        check_loop(
            {.strategy = strategy, .backward = backward, .size = 33, .steps = 7, .samples = 2, .chunks = chunks});
      }
    }
  }
}

TEST_CASE("masked steps hold the state, give zeros and add nothing, NaN in padding included") {
  for (Strategy strategy : {Strategy::Stepwise, Strategy::Scan}) {
    for (DType dtype : {DType::Float64, DType::Float32, DType::BFloat16, DType::Float16}) {
      for (std::int64_t size : {1, 16, 40}) {
        check_loop({.strategy = strategy, .size = size, .steps = 6, .samples = 3, .masked = true, .dtype = dtype});
      }
    }
  }
}

TEST_CASE("scans of any size, step by step the same bits") {
  for (std::int64_t size : {1, 2, 15, 16, 17, 64, 65, 100, 128, 200}) {
    CAPTURE(size);
    LoopCase c{.strategy = Strategy::Scan, .size = size, .steps = 5, .samples = 2, .masked = true};
    check_loop(c);
    c.dtype = DType::Float32;
    const LoopResult scan = StateLoop(c).run();
    c.strategy = Strategy::Stepwise;
    const LoopResult stepwise = StateLoop(c).run();
    CHECK(scan.outputs == stepwise.outputs);
    CHECK(scan.state == stepwise.state);
  }
}

TEST_CASE("a scan refuses a state that is read across its elements") {
  HandPlan hand(DType::Float32);
  const Shape shape{8};
  Kernel kernel;
  kernel.name = "shift";
  const Expr h = leaf(hand.graph(), Op::State, 0, shape);
  const int before = hand.buffer(Space::State, shape, DType::Float32, false, true);
  const int after = hand.buffer(Space::State, shape, DType::Float32, false, true);
  kernel.loads.push_back({h.id, before});
  const Expr next = broadcast(slice(h, 0, 0, 1), shape, {0}) + h;
  Store store;
  store.node = next.id;
  store.buffer = after;
  kernel.stores.push_back(store);
  kernel.nests.push_back({NestKind::Map, shape, 0, {next.id}, {}});
  TimeLoop loop;
  loop.name = "loop";
  loop.strategy = Strategy::Scan;
  Carried carried;
  carried.leaf = h.id;
  carried.next = next.id;
  carried.buffers[0] = before;
  carried.buffers[1] = after;
  loop.carried.push_back(carried);
  loop.body.emplace_back(kernel);
  hand.plan.chunk.emplace_back(loop);
  CHECK_THROWS_WITH_AS(hand.code(), doctest::Contains("read at another element than its own"), InternalError);
}

#endif
