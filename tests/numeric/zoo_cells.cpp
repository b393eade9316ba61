// The published cells at the Cell level: outputs, final states, loss and gradients against golden numbers, and what the
// golden numbers leave out against differences.
#include <algorithm>
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "ir/dtype.h"
#include "ir/interpret_cell.h"
#include "passes/add_resets.h"
#include "passes/bind_mode.h"
#include "passes/differentiate.h"
#include "passes/strip_annotations.h"
#include "tests/support/check_gradients.h"
#include "tests/support/zoo.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

/// Largest scaled error over the declared names that have golden numbers.
template <typename Declared>
double error_of(const std::vector<Declared>& declared, const std::vector<Values>& got, const NamedValues& want) {
  double largest = 0;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const auto it = want.find(declared[i].name);
    if (it == want.end() || !it->second) continue;
    ++compared;
    largest = std::max(largest, cellfuse::scaled_error(got[i], *it->second));
  }
  const auto expected = std::ranges::count_if(want, [](const auto& entry) { return entry.second.has_value(); });
  return compared == static_cast<std::size_t>(expected) ? largest : HUGE_VAL;
}

Weights golden_weights(const Cell& cell, const Case& test) {
  Weights weights;
  for (std::size_t i = 0; i < cell.outputs.size(); ++i) {
    const std::int64_t count = cell.graph[cell.outputs[i].node].shape.count();
    weights.outputs.push_back(loss_weights(i, test.steps, test.batch, count));
  }
  return weights;
}

void check_variant(const Cell& cell, const Cell& derivative, const Case& test, const CaseVariant& variant) {
  const DTypeInfo& tolerance = info(DType::Float64);
  const RunArguments arguments = run_arguments(test, variant, cell);
  const RunResults results = interpret(cell, arguments);
  const Weights weights = golden_weights(cell, test);
  CHECK(error_of(cell.outputs, results.outputs, variant.outputs) < tolerance.forward_tolerance);
  CHECK(error_of(cell.states, results.finals, variant.final) < tolerance.forward_tolerance);
  CHECK(cellfuse::scaled_error(Values{loss(results, weights)}, Values{variant.loss}) < tolerance.forward_tolerance);

  const Gradients got = gradients(cell, derivative, arguments, weights);
  CHECK(error_of(cell.inputs, got.inputs, variant.input_grads) < tolerance.gradient_tolerance);
  CHECK(error_of(cell.params, got.params, variant.param_grads) < tolerance.gradient_tolerance);
  CHECK(error_of(cell.states, got.initial, variant.initial_grads) < tolerance.gradient_tolerance);
}

/// True where gradients are what the user says, not what differences say.
bool has_own_gradients(const Cell& cell) {
  const std::vector<bool> live = reachable(cell.graph, cell.roots());
  for (NodeId id = 0; id < cell.graph.size(); ++id) {
    const Op op = cell.graph[id].op;
    if (live[id] && (op == Op::WithGrad || op == Op::Step || op == Op::ClipGrad)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("golden numbers of every cell and variant") {
  const std::vector<std::string> names = zoo_names();
  REQUIRE(names.size() >= 56);
  for (const std::string& name : names) {
    CAPTURE(name);
    const ZooCell zoo = zoo_cell(name);
    const Cell cell = bind_mode(add_resets(zoo.cell), false);
    verify(cell);
    const Cell derivative = differentiate(cell);
    verify(derivative);
    for (const CaseVariant& variant : zoo.test.variants) {
      CAPTURE(variant.name);
      check_variant(cell, derivative, zoo.test, variant);
      check_variant(strip_annotations(cell), strip_annotations(derivative), zoo.test, variant);
    }
  }
}

TEST_CASE("masks with holes, resets, both directions, final states, and second derivatives of every cell") {
  std::size_t compared = 0;
  for (const std::string& name : zoo_names()) {
    CAPTURE(name);
    const ZooCell zoo = zoo_cell(name);
    if (has_own_gradients(zoo.cell)) continue;
    ++compared;
    const Cell cell = bind_mode(add_resets(zoo.cell), false);
    RandomRun random(static_cast<unsigned>(compared));
    const auto reset = std::ranges::find(zoo.test.variants, "reset", &CaseVariant::name);
    RunArguments arguments = run_arguments(zoo.test, *reset, cell);
    arguments.live = {1, 1, 0, 1, 1, 1, 1, 0};
    arguments.reset = {0, 1, 1, 0, 1, 0, 0, 0};
    arguments.reverse = compared % 2 == 0;
    check_gradients(cell, arguments, random);
  }
  CHECK(compared >= 48);
}
