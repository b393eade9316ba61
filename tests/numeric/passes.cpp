// Passes keep what a program means: outputs, final states and gradients after each one equal those before, for random
// cells with masks and resets, in every memory mode.
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "ir/interpret_cell.h"
#include "ir/interpret_sequence.h"
#include "passes/add_resets.h"
#include "passes/bind_mode.h"
#include "passes/choose_saved.h"
#include "passes/combine_gemms.h"
#include "passes/differentiate.h"
#include "passes/hoist_invariants.h"
#include "passes/legalise.h"
#include "passes/recognize_scan.h"
#include "passes/simplify.h"
#include "passes/split_time.h"
#include "passes/strip_annotations.h"
#include "tests/support/random_cells.h"
#include "tests/support/training_run.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr std::uint32_t kCells = 300;
constexpr double kTolerance = 1e-9;

/// A forward and a backward program, checked against what they should give after each pass.
class Checked {
 public:
  Checked(const Cell& cell, std::uint32_t seed) : cell_(cell) {
    RandomRun random(seed);
    arguments_ = random.arguments(cell, 4, 3);
    arguments_.live = random.flags(12, 0.7);
    arguments_.reset = random.flags(12, 0.2);
    arguments_.reverse = seed % 3 == 0;
    arguments_.seed = seed;
    weights_ = random.weights(cell, arguments_, seed % 5 != 1, seed % 5 != 2);
    want_.forward = interpret(cell, arguments_);
    want_.gradients = gradients(cell, arguments_, weights_);
  }

  void cells(const std::string& pass, const Cell& forward, const Cell& backward) const {
    INFO(pass);
    verify(forward);
    verify(backward);
    CHECK(scaled_error(run_training(cell_, forward, backward, arguments_, weights_), want_) < kTolerance);
  }

  void sequences(const std::string& pass, const Sequence& forward, const Sequence& backward) const {
    INFO(pass);
    verify(forward);
    verify(backward);
    CHECK(scaled_error(run_training(cell_, forward, backward, arguments_, weights_), want_) < kTolerance);
  }

  /// Before choose_saved, the record is the states before each step.
  void derivative(const std::string& pass, const Cell& forward, const Cell& backward) const {
    INFO(pass);
    verify(forward);
    verify(backward);
    TrainingRun got;
    got.forward = interpret(forward, arguments_);
    got.gradients =
        sort_gradients(cell_, interpret(backward, backward_arguments(cell_, arguments_, got.forward, weights_)));
    CHECK(scaled_error(got, want_) < kTolerance);
  }

 private:
  Cell cell_;
  RunArguments arguments_;
  Weights weights_;
  TrainingRun want_;
};

void check_saved(const Checked& checked, const Cell& forward, const Cell& backward, MemoryMode mode) {
  const SavedProgram saved = choose_saved(forward, backward, mode, DType::Float32);
  const std::string in(name(mode));
  checked.cells("choose_saved " + in, saved.forward, saved.backward);
  Sequence first = split_time(saved.forward);
  Sequence second = split_time(saved.backward);
  checked.sequences("split_time " + in, first, second);
  checked.sequences("keep_in_loop " + in, keep_in_loop(saved.forward), keep_in_loop(saved.backward));
  first = hoist_invariants(first);
  second = hoist_invariants(second);
  checked.sequences("hoist_invariants " + in, first, second);
  first = combine_gemms(first);
  second = combine_gemms(second);
  checked.sequences("combine_gemms " + in, first, second);
  first = recognize_scan(first);
  second = recognize_scan(second);
  checked.sequences("recognize_scan " + in, first, second);
}

void check_passes(const Cell& source, std::uint32_t seed) {
  const Cell cell = add_resets(bind_mode(source, true));
  const Checked checked(cell, seed);
  Cell forward = simplify(cell);
  Cell backward = differentiate(forward);
  checked.derivative("simplify", forward, backward);
  checked.derivative("simplify of both", forward, simplify(backward));
  forward = simplify(strip_annotations(forward));
  backward = simplify(strip_annotations(backward));
  checked.derivative("strip_annotations", forward, backward);
  forward = legalise(forward);
  backward = legalise(backward);
  verify_legal(forward);
  verify_legal(backward);
  checked.derivative("legalise", forward, backward);
  forward = simplify(forward);
  backward = simplify(backward);
  checked.derivative("simplify of legal cells", forward, backward);
  for (MemoryMode mode : {MemoryMode::Fast, MemoryMode::Balanced, MemoryMode::Small}) {
    check_saved(checked, forward, backward, mode);
  }
}

}  // namespace

TEST_CASE("passes keep the meaning of random cells") {
  const char* only = std::getenv("CELLFUSE_SEED");
  const std::uint32_t first = only != nullptr ? static_cast<std::uint32_t>(std::atoi(only)) : 1;
  for (std::uint32_t seed = first; seed < first + (only != nullptr ? 1 : kCells); ++seed) {
    CAPTURE(seed);
    check_passes(random_cell(seed), seed);
  }
}
