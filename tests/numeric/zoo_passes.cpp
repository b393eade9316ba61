// Every published cell against its golden numbers, after each pass of the Cell and Sequence levels.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "ir/dtype.h"
#include "passes/add_resets.h"
#include "passes/bind_mode.h"
#include "tests/support/pass_stages.h"
#include "tests/support/zoo.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

/// Largest scaled error over the declared names that have golden numbers.
template <typename Declared>
double error_of(const std::vector<Declared>& declared, const std::vector<Values>& got, const NamedValues& want) {
  double largest = 0;
  std::ptrdiff_t compared = 0;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const auto it = want.find(declared[i].name);
    if (it == want.end() || !it->second) continue;
    ++compared;
    largest = std::max(largest, cellfuse::scaled_error(got[i], *it->second));
  }
  const auto expected = std::ranges::count_if(want, [](const auto& entry) { return entry.second.has_value(); });
  return compared == expected ? largest : HUGE_VAL;
}

void check_cell(const ZooCell& zoo) {
  const Cell cell = add_resets(bind_mode(zoo.cell, true));
  Weights weights;
  for (std::size_t i = 0; i < cell.outputs.size(); ++i) {
    const std::int64_t count = cell.graph[cell.outputs[i].node].shape.count();
    weights.outputs.push_back(loss_weights(i, zoo.test.steps, zoo.test.batch, count));
  }
  const DTypeInfo& tolerance = info(DType::Float64);
  visit_stages(cell, [&](const PassStage& stage) {
    INFO(stage.name);
    for (const CaseVariant& variant : zoo.test.variants) {
      INFO(variant.name);
      const TrainingRun got = stage.run(cell, run_arguments(zoo.test, variant, cell), weights);
      CHECK(error_of(cell.outputs, got.forward.outputs, variant.outputs) < tolerance.forward_tolerance);
      CHECK(error_of(cell.states, got.forward.finals, variant.final) < tolerance.forward_tolerance);
      CHECK(error_of(cell.inputs, got.gradients.inputs, variant.input_grads) < tolerance.gradient_tolerance);
      CHECK(error_of(cell.params, got.gradients.params, variant.param_grads) < tolerance.gradient_tolerance);
      CHECK(error_of(cell.states, got.gradients.initial, variant.initial_grads) < tolerance.gradient_tolerance);
    }
  });
}

}  // namespace

TEST_CASE("golden numbers of every cell after each pass") {
  const std::vector<std::string> names = zoo_names();
  REQUIRE(names.size() >= 56);
  for (const std::string& name : names) {
    CAPTURE(name);
    check_cell(zoo_cell(name));
  }
}
