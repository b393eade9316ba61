#include "tests/support/zoo_run.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

namespace cellfuse::testing {

namespace {

/// Largest scaled error over the declared names that have golden numbers; infinite where golden numbers have no name.
template <typename Declared>
double error_of(const std::vector<Declared>& declared, const std::vector<Values>& got, const NamedValues& want) {
  double largest = 0;
  for (const auto& [name, values] : want) {
    const auto found = std::find_if(declared.begin(), declared.end(), [&](const auto& d) { return d.name == name; });
    if (!values) continue;
    if (found == declared.end()) return HUGE_VAL;
    largest =
        std::max(largest, cellfuse::scaled_error(got[static_cast<std::size_t>(found - declared.begin())], *values));
  }
  return largest;
}

}  // namespace

CompileOptions test_options(DType dtype, MemoryMode memory) {
  CompileOptions options;
  options.device = test_device();
  options.dtype = dtype;
  options.memory = memory;
  options.threads = 2;
  options.debugging.verify = true;
  return options;
}

void check_golden(const ZooCell& zoo, const CompileOptions& options) {
  const Executable executable = compile(zoo.cell, options);
  const DTypeInfo& tolerance = info(options.dtype);
  Weights weights;
  for (std::size_t i = 0; i < zoo.cell.outputs.size(); ++i) {
    const std::int64_t count = zoo.cell.graph[zoo.cell.outputs[i].node].shape.count();
    weights.outputs.push_back(loss_weights(i, zoo.test.steps, zoo.test.batch, count));
  }
  for (const CaseVariant& variant : zoo.test.variants) {
    CAPTURE(variant.name);
    const RunArguments arguments = run_arguments(zoo.test, variant, zoo.cell);
    const RunResults inference = run_forward(executable, zoo.cell, arguments);
    CHECK(error_of(zoo.cell.outputs, inference.outputs, variant.outputs) <= tolerance.forward_tolerance);
    CHECK(error_of(zoo.cell.states, inference.finals, variant.final) <= tolerance.forward_tolerance);
    const TrainingRun run = run_training(executable, zoo.cell, arguments, weights);
    CHECK(error_of(zoo.cell.outputs, run.forward.outputs, variant.outputs) <= tolerance.forward_tolerance);
    CHECK(error_of(zoo.cell.states, run.forward.finals, variant.final) <= tolerance.forward_tolerance);
    CHECK(error_of(zoo.cell.inputs, run.gradients.inputs, variant.input_grads) <= tolerance.gradient_tolerance);
    CHECK(error_of(zoo.cell.params, run.gradients.params, variant.param_grads) <= tolerance.gradient_tolerance);
    CHECK(error_of(zoo.cell.states, run.gradients.initial, variant.initial_grads) <= tolerance.gradient_tolerance);
  }
}

}  // namespace cellfuse::testing
