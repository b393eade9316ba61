// The emitted kernels of the cells of the zoo, forward and backward, on the emulated machine against golden numbers.
#include <doctest/doctest.h>

#include "ir/dtype.h"
#include "tests/emulation/device_run.h"
#include "tests/emulation/programs.h"
#include "tests/emulation/typed_memory.h"
#include "tests/support/training_run.h"

using namespace cellfuse;
using namespace cellfuse::emulation;
using cellfuse::testing::TrainingRun;
using cellfuse::testing::Weights;

namespace {

/// Largest scaled error of the arrays that `want` has; `list` names those of `got`.
template <typename List>
double error_of(const std::vector<Values>& got, const List& list, const NamedValues& want) {
  double largest = 0;
  for (std::size_t i = 0; i < got.size() && i < list.size(); ++i) {
    auto it = want.find(list[i].name);
    if (it == want.end() || !it->second) continue;
    largest = std::max(largest, scaled_error(got[i], *it->second));
  }
  return largest;
}

TrainingRun run_on_device(const EmittedCell& cell, const RunArguments& arguments, const Weights& weights,
                          const RunOptions& options) {
  auto runner = [&](const EmittedProgram& program) {
    return [&](const RunArguments& a) { return run(program.plan, program.source, a, options); };
  };
  return cellfuse::testing::run_training(cell.trained, runner(cell.forward), runner(cell.backward), arguments, weights);
}

/// Each variant of a case in another way.
RunOptions options_for(std::size_t number) {
  RunOptions options;
  options.chunk_steps = static_cast<std::int64_t>(number % 4);
  options.segments = 1 + static_cast<std::int64_t>(number % 3);
  options.scattered = number % 2 != 0;
  constexpr Schedule::Order kOrders[] = {Schedule::Order::Ascending, Schedule::Order::Random,
                                         Schedule::Order::Descending};
  options.schedule = {kOrders[number % 3], static_cast<std::uint32_t>(number)};
  return options;
}

void check_cell(const EmittedCell& cell, std::size_t number) {
  const DTypeInfo& tolerance = info(cell.dtype);
  Weights weights;
  for (std::size_t i = 0; i < cell.trained.outputs.size(); ++i) {
    const std::int64_t count = cell.trained.graph[cell.trained.outputs[i].node].shape.count();
    weights.outputs.push_back(loss_weights(i, cell.test.steps, cell.test.batch, count));
  }
  for (const CaseVariant& variant : cell.test.variants) {
    INFO(variant.name);
    RunArguments arguments = run_arguments(cell.test, variant, cell.source);
    arguments.inputs.resize(cell.trained.inputs.size());
    const TrainingRun got = run_on_device(cell, arguments, weights, options_for(number++));
    CHECK(error_of(got.forward.outputs, cell.trained.outputs, variant.outputs) < tolerance.forward_tolerance);
    CHECK(error_of(got.forward.finals, cell.trained.states, variant.final) < tolerance.forward_tolerance);
    CHECK(error_of(got.gradients.inputs, cell.trained.inputs, variant.input_grads) < tolerance.gradient_tolerance);
    CHECK(error_of(got.gradients.params, cell.trained.params, variant.param_grads) < tolerance.gradient_tolerance);
    CHECK(error_of(got.gradients.initial, cell.trained.states, variant.initial_grads) < tolerance.gradient_tolerance);
  }
}

}  // namespace

TEST_CASE("the zoo on the emulated machine") {
  std::size_t number = 0;
  for (const CellChoice& choice : emulated_cells()) {
    const EmittedCell cell = emit_cell(choice);
    CAPTURE(cell.name);
    try {
      check_cell(cell, number++);
    } catch (const EmulationError& error) {
      FAIL_CHECK(error.what());
    }
  }
}
