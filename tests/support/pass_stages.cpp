#include "tests/support/pass_stages.h"

#include "ir/interpret_cell.h"
#include "ir/interpret_sequence.h"
#include "passes/choose_saved.h"
#include "passes/combine_gemms.h"
#include "passes/differentiate.h"
#include "passes/hoist_invariants.h"
#include "passes/legalise.h"
#include "passes/recognize_scan.h"
#include "passes/simplify.h"
#include "passes/split_time.h"
#include "passes/strip_annotations.h"

namespace cellfuse::testing {

namespace {

class Visitor {
 public:
  explicit Visitor(const std::function<void(const PassStage&)>& visit) : visit_(visit) {}

  void cells(const std::string& name, const Cell& forward, const Cell& backward, bool saved = false) const {
    verify(forward);
    verify(backward);
    visit_({name, &forward, &backward, nullptr, nullptr, saved});
  }

  void sequences(const std::string& name, const Sequence& forward, const Sequence& backward) const {
    verify(forward);
    verify(backward);
    visit_({name, nullptr, nullptr, &forward, &backward, true});
  }

 private:
  const std::function<void(const PassStage&)>& visit_;
};

void visit_sequences(const Visitor& visitor, const SavedProgram& program, const std::string& mode) {
  visitor.sequences("keep_in_loop" + mode, keep_in_loop(program.forward), keep_in_loop(program.backward));
  Sequence forward = split_time(program.forward);
  Sequence backward = split_time(program.backward);
  visitor.sequences("split_time" + mode, forward, backward);
  forward = hoist_invariants(forward);
  backward = hoist_invariants(backward);
  visitor.sequences("hoist_invariants" + mode, forward, backward);
  forward = combine_gemms(forward);
  backward = combine_gemms(backward);
  visitor.sequences("combine_gemms" + mode, forward, backward);
  forward = recognize_scan(forward);
  backward = recognize_scan(backward);
  visitor.sequences("recognize_scan" + mode, forward, backward);
}

}  // namespace

TrainingRun PassStage::run(const Cell& cell, const RunArguments& arguments, const Weights& weights) const {
  if (forward_sequence != nullptr) {
    return run_training(cell, *forward_sequence, *backward_sequence, arguments, weights);
  }
  if (saved) return run_training(cell, *forward, *backward, arguments, weights);
  TrainingRun result;
  result.forward = interpret(*forward, arguments);
  const RunArguments of_backward = backward_arguments(cell, arguments, result.forward, weights);
  result.gradients = sort_gradients(cell, interpret(*backward, of_backward));
  return result;
}

void visit_stages(const Cell& cell, const std::function<void(const PassStage&)>& visit) {
  const Visitor visitor(visit);
  Cell forward = simplify(cell);
  Cell backward = differentiate(forward);
  visitor.cells("simplify", forward, backward);
  forward = strip_annotations(forward);
  backward = strip_annotations(backward);
  visitor.cells("strip_annotations", forward, backward);
  forward = simplify(forward);
  backward = simplify(backward);
  visitor.cells("simplify of the derivative", forward, backward);
  forward = legalise(forward);
  backward = legalise(backward);
  verify_legal(forward);
  verify_legal(backward);
  visitor.cells("legalise", forward, backward);
  forward = simplify(forward);
  backward = simplify(backward);
  visitor.cells("simplify of legal cells", forward, backward);
  for (MemoryMode mode : {MemoryMode::Fast, MemoryMode::Balanced, MemoryMode::Small}) {
    const SavedProgram program = choose_saved(forward, backward, mode, DType::Float64);
    const std::string suffix = ", memory " + std::string(name(mode));
    visitor.cells("choose_saved" + suffix, program.forward, program.backward, true);
    visit_sequences(visitor, program, suffix);
  }
}

}  // namespace cellfuse::testing
