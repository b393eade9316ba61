// What the Cell level means over a sequence: masks, resets, direction, chunks and batches, in terms of plain runs.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "ir/functions.h"
#include "ir/interpret_cell.h"
#include "passes/add_resets.h"
#include "passes/bind_mode.h"
#include "tests/support/check_gradients.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

/// Two states (one with a learned start), the index of the step, and random masks of every kind.
Cell test_cell(bool training) {
  CellMaker maker;
  maker.cell().name = "test";
  const Expr x = maker.input("x", {3});
  const Expr h = maker.state("h", {2}, 0.25);
  const Expr c = maker.state("c", {2});
  const Expr W = maker.param("W", {2, 3});
  const Expr U = maker.param("U", {2, 2});
  const Expr c0 = maker.param("c0", {2});
  const Expr b = maker.param("b", {2}, false);
  maker.start(c, c0);
  const Expr t = leaf(maker.graph(), Op::StepIndex, 0, {});
  const Expr fixed = dropout(U, 0.3, true, 0);
  const Expr z = matmul(W, dropout(x, 0.3, false, 1)) + matmul(fixed, dropout(h, 0.3, true, 2)) + b;
  const Expr fresh = sigmoid(z) * c + tanh(z) * (1.0 + 0.1 * sin(t));
  maker.next(c, fresh);
  maker.next(h, zoneout(sin(fresh), h, 0.4, 3));
  maker.output("y", fresh * h);
  maker.output("z", sum(z, 0));
  return bind_mode(add_resets(maker.cell()), training);
}

RunArguments random_run(const Cell& cell, std::int64_t steps, std::int64_t batch, unsigned seed) {
  RandomRun random(seed);
  RunArguments arguments = random.arguments(cell, steps, batch);
  arguments.seed = 0x123456789ABCDEFULL;
  arguments.offset = 3;
  arguments.first_step = 5;
  arguments.first_sample = 9;
  arguments.layer = 1;
  return arguments;
}

/// Rows [begin, end) of `[time, ...]`, or of `[batch, ...]`.
Values rows(const Values& values, std::int64_t count, std::int64_t begin, std::int64_t end) {
  const auto size = static_cast<std::int64_t>(values.size()) / std::max<std::int64_t>(1, count);
  return {values.begin() + begin * size, values.begin() + end * size};
}

/// The sample `b` of `[time, batch, ...]`, at the steps of `times`.
Values pick(const Values& values, const RunArguments& of, std::int64_t b, const std::vector<std::int64_t>& times) {
  const auto size = static_cast<std::int64_t>(values.size()) / (of.steps * of.batch);
  Values result;
  for (std::int64_t t : times) {
    const auto from = values.begin() + (t * of.batch + b) * size;
    result.insert(result.end(), from, from + size);
  }
  return result;
}

/// The run of sample `b` alone with the steps of `times`.
RunArguments alone(const RunArguments& of, std::int64_t b, const std::vector<std::int64_t>& times) {
  RunArguments result = of;
  result.steps = static_cast<std::int64_t>(times.size());
  result.batch = 1;
  result.live.clear();
  result.reset.clear();
  result.first_sample = of.first_sample + b;
  for (Values& input : result.inputs) {
    if (!input.empty()) input = pick(input, of, b, times);
  }
  for (auto& initial : result.initial) initial = rows(*initial, of.batch, b, b + 1);
  return result;
}

/// 0, 1, ... or the other way round.
std::vector<std::int64_t> all_steps(std::int64_t steps, bool down = false) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(steps));
  std::iota(result.begin(), result.end(), 0);
  if (down) std::ranges::reverse(result);
  return result;
}

}  // namespace

TEST_CASE("masked steps are as if they were not there") {
  const Cell cell = test_cell(true);
  RunArguments arguments = random_run(cell, 6, 3, 1);
  arguments.live = RandomRun(2).flags(18, 0.6);
  for (std::size_t place = 0; place < 18; ++place) {
    for (std::size_t k = 0; k < 3 && arguments.live[place] == 0; ++k) {
      arguments.inputs[0][place * 3 + k] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  const RunResults whole = interpret(cell, arguments);
  for (std::int64_t b = 0; b < 3; ++b) {
    std::vector<std::int64_t> live;
    std::vector<std::int64_t> masked;
    for (std::int64_t t = 0; t < 6; ++t) {
      (arguments.live[static_cast<std::size_t>(t * 3 + b)] != 0 ? live : masked).push_back(t);
    }
    const RunResults compact = interpret(cell, alone(arguments, b, live));
    for (std::size_t i = 0; i < cell.outputs.size(); ++i) {
      CHECK(pick(whole.outputs[i], arguments, b, live) == compact.outputs[i]);
      for (double value : pick(whole.outputs[i], arguments, b, masked)) CHECK(value == 0);
    }
    for (std::size_t i = 0; i < cell.states.size(); ++i) {
      CHECK(rows(whole.finals[i], 3, b, b + 1) == compact.finals[i]);
      CHECK(pick(whole.history[i], arguments, b, live) == compact.history[i]);
    }
  }
}

TEST_CASE("the reverse direction is a run over the turned sequence") {
  const Cell cell = test_cell(true);
  RunArguments arguments = random_run(cell, 5, 2, 3);
  arguments.live = {1, 1, 0, 1, 1, 1, 1, 0, 1, 0};
  arguments.reverse = true;
  const RunResults whole = interpret(cell, arguments);
  for (std::int64_t b = 0; b < 2; ++b) {
    std::vector<std::int64_t> live;
    for (std::int64_t t : all_steps(5, true)) {
      if (arguments.live[static_cast<std::size_t>(t * 2 + b)] != 0) live.push_back(t);
    }
    RunArguments turned = alone(arguments, b, live);
    turned.reverse = false;
    const RunResults forward = interpret(cell, turned);
    CHECK(pick(whole.outputs[0], arguments, b, live) == forward.outputs[0]);
    CHECK(rows(whole.finals[0], 2, b, b + 1) == forward.finals[0]);
  }
}

TEST_CASE("a reset starts again from the initial state, the step index goes on") {
  for (const bool given : {true, false}) {
    const Cell cell = test_cell(true);
    RunArguments arguments = random_run(cell, 6, 1, 4);
    if (!given) arguments.initial.assign(2, std::nullopt);
    arguments.reset = {0, 0, 1, 1, 0, 0};
    arguments.live = {1, 1, 1, 0, 1, 1};  // the reset at the masked step is ignored
    const RunResults whole = interpret(cell, arguments);
    RunArguments part = arguments;
    part.reset.clear();
    part.live = {1, 1, 0, 0, 0, 0};
    const RunResults first = interpret(cell, part);
    part.live = {0, 0, 1, 0, 1, 1};
    part.first_step = arguments.first_step + 2;
    const RunResults second = interpret(cell, part);
    for (std::size_t k = 0; k < 12; ++k) {
      CHECK(whole.outputs[0][k] == (k < 4 ? first.outputs[0][k] : second.outputs[0][k]));
    }
    CHECK(whole.finals == second.finals);
    CHECK(rows(whole.history[0], 6, 2, 3) == first.finals[0]);
  }
}

TEST_CASE("a sequence in chunks and a batch in parts give the same numbers") {
  const Cell cell = test_cell(true);
  const RunArguments arguments = random_run(cell, 5, 4, 5);
  const RunResults whole = interpret(cell, arguments);

  RunArguments chunk = arguments;
  chunk.steps = 2;
  chunk.inputs[0] = rows(arguments.inputs[0], 5, 0, 2);
  const RunResults first = interpret(cell, chunk);
  chunk.steps = 3;
  chunk.inputs[0] = rows(arguments.inputs[0], 5, 2, 5);
  chunk.first_step = arguments.first_step + 2;
  for (std::size_t i = 0; i < 2; ++i) chunk.initial[i] = first.finals[i];
  const RunResults second = interpret(cell, chunk);
  CHECK(rows(whole.outputs[0], 5, 2, 5) == second.outputs[0]);
  CHECK(whole.finals == second.finals);

  for (std::int64_t b = 0; b < 4; ++b) {
    const RunResults single = interpret(cell, alone(arguments, b, all_steps(5)));
    CHECK(pick(whole.outputs[0], arguments, b, all_steps(5)) == single.outputs[0]);
  }
}

TEST_CASE("no steps and no samples") {
  const Cell cell = test_cell(false);
  for (const auto& [steps, batch] : {std::pair<int, int>{0, 2}, {2, 0}, {0, 0}}) {
    RunArguments arguments = random_run(cell, steps, batch, 6);
    const RunResults results = interpret(cell, arguments);
    CHECK(results.outputs[0].empty());
    CHECK(results.finals[0] == *arguments.initial[0]);
    RandomRun random(1);
    const Weights weights = random.weights(cell, arguments, true, true);
    const Gradients got = gradients(cell, arguments, weights);
    CHECK(got.params[0] == Values(6, 0.0));
    CHECK(got.initial[0] == weights.finals[0]);

    arguments.initial.assign(2, std::nullopt);
    const RunResults defaults = interpret(cell, arguments);
    CHECK(defaults.finals[0] == Values(static_cast<std::size_t>(batch) * 2, 0.25));
    for (std::size_t k = 0; k < static_cast<std::size_t>(batch) * 2; ++k) {
      CHECK(defaults.finals[1][k] == arguments.params[2][k % 2]);
    }
  }
}

TEST_CASE("gradients with masks, resets, both directions, seeds, given and learned starts") {
  for (const bool training : {false, true}) {
    const Cell cell = test_cell(training);
    for (const bool reverse : {false, true}) {
      for (const int given : {0, 1, 2}) {
        CAPTURE(training);
        CAPTURE(reverse);
        CAPTURE(given);
        RunArguments arguments = random_run(cell, 5, 3, 7);
        arguments.reverse = reverse;
        if (given < 2) arguments.initial[1] = std::nullopt;
        if (given < 1) arguments.initial[0] = std::nullopt;
        RandomRun random(8);
        arguments.live = random.flags(15, 0.7);
        arguments.reset = random.flags(15, 0.3);
        check_gradients(cell, arguments, random);
      }
    }
  }
}

TEST_CASE("gradients through the final states alone") {
  const Cell cell = test_cell(false);
  RunArguments arguments = random_run(cell, 4, 2, 9);
  arguments.live = {1, 1, 1, 0, 1, 1, 0, 0};
  RandomRun random(10);
  const Weights weights = random.weights(cell, arguments, false, true);
  const Gradients got = gradients(cell, arguments, weights);
  auto value = [&](const RunArguments& moved) { return loss(interpret(cell, moved), weights); };
  CHECK(scaled_error(got, differences(arguments, got, value, 1e-6)) < 1e-7);
}

TEST_CASE("buffers and states that are not given get no gradient") {
  const Cell cell = test_cell(false);
  RunArguments arguments = random_run(cell, 3, 2, 11);
  arguments.initial.assign(2, std::nullopt);
  RandomRun random(12);
  const Gradients got = gradients(cell, arguments, random.weights(cell, arguments, true, true));
  CHECK(got.params[3].empty());
  CHECK(got.initial[0] == Values(4, 0.0));
  CHECK(got.initial[1] == Values(4, 0.0));
  CHECK(got.params[2] != Values(2, 0.0));  // the learned start
}

TEST_CASE("what has the wrong size is refused") {
  const Cell cell = test_cell(false);
  const RunArguments good = random_run(cell, 3, 2, 13);
  RunArguments bad = good;
  bad.inputs[0].pop_back();
  CHECK_THROWS_AS(interpret(cell, bad), UsageError);
  bad = good;
  bad.params.pop_back();
  CHECK_THROWS_AS(interpret(cell, bad), UsageError);
  bad = good;
  bad.live = {1};
  CHECK_THROWS_AS(interpret(cell, bad), UsageError);
  bad = good;
  bad.initial.resize(3);
  CHECK_THROWS_AS(interpret(cell, bad), UsageError);
}
