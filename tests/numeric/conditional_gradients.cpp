// The branch that `where` does not take contributes exactly 0, also where it is NaN or infinite, to the second order.
// Differences of the loss are exact here: they never take the other branch.
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "ir/functions.h"
#include "ir/interpret_cell.h"
#include "passes/differentiate.h"
#include "tests/support/check_gradients.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

/// x is positive in all elements, or negative in all; `taken` is the scalar that says which.
struct Scene {
  CellMaker& maker;
  Expr x;      // [3]
  Expr taken;  // scalar
  Expr param(const Shape& shape) const { return maker.param("p" + std::to_string(maker.cell().params.size()), shape); }
  Expr guarded(Expr value) const { return where(taken, value, 0.25); }
};

using Build = std::function<Expr(const Scene&)>;

void check_scene(const Build& build, bool mixed_signs) {
  CellMaker maker;
  const Expr state = maker.state("s", {3}, 0.5);
  const Expr x = maker.input("x", {3});
  const Scene scene{maker, x, gt(reshape(slice(x, 0, 0, 1), {}), 0.0)};
  const Expr value = build(scene);
  maker.output("y", value * (1.0 + 0.5 * value));
  maker.next(state, 0.5 * state + 0.1 * x);
  const Cell cell = maker.cell();

  RandomRun random(11);
  RunArguments arguments = random.arguments(cell, 3, 2);
  Values& xs = arguments.inputs[0];
  xs = random.values(static_cast<std::int64_t>(xs.size()), 0.2, 1.2);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if ((mixed_signs ? i : i / 3) % 2 == 1) xs[i] = -xs[i];
  }
  check_gradients(cell, arguments, random);
}

}  // namespace

TEST_CASE("whole values that are not taken") {
  const std::vector<std::pair<std::string, Build>> scenes{
      {"log", [](const Scene& s) { return s.guarded(log(s.x)); }},
      {"chain", [](const Scene& s) { return s.guarded(sin(log(s.x)) * exp(sqrt(s.x) + log(s.x))); }},
      {"other branch", [](const Scene& s) { return where(eq(s.taken, 0.0), 0.25, log(s.x)); }},
      {"infinity", [](const Scene& s) { return s.guarded(s.x / max(s.x, 0.0)); }},
      {"nested", [](const Scene& s) { return s.guarded(where(gt(s.x, 0.5), log(s.x), sqrt(s.x))); }},
      {"param", [](const Scene& s) { return s.guarded(s.param({3}) * log(s.x) + s.param({3})); }},
      {"sum", [](const Scene& s) { return s.guarded(sum(log(s.x), 0) * log(s.x)); }},
      {"prod", [](const Scene& s) { return s.guarded(reduce(Op::Prod, log(s.x), 0)); }},
      {"amax", [](const Scene& s) { return s.guarded(reduce(Op::AMax, log(s.x), 0)); }},
      {"cumsum", [](const Scene& s) { return s.guarded(cumsum(log(s.x), 0)); }},
      {"softmax", [](const Scene& s) { return s.guarded(softmax(log(s.x), 0)); }},
      {"layer_norm", [](const Scene& s) { return s.guarded(layer_norm(log(s.x), s.param({3}), {}, 1e-2, 0)); }},
      {"pow", [](const Scene& s) { return s.guarded(pow(s.x, 0.3 + s.param({3}))); }},
      {"concat", [](const Scene& s) { return s.guarded(concat({log(s.x), s.x, sqrt(s.x)}, 0)); }},
      {"slice", [](const Scene& s) { return s.guarded(slice(log(s.x), 0, 1, 3) * slice(log(s.x), 0, 0, 2)); }},
      {"reshape",
       [](const Scene& s) { return s.guarded(reshape(log(s.x), {1, 3}) * transpose(reshape(s.x, {3, 1}))); }},
      {"broadcast", [](const Scene& s) { return s.guarded(broadcast(log(s.x), {2, 3}, {1}) * s.param({2, 3})); }},
      {"matrix, vector", [](const Scene& s) { return s.guarded(matmul(s.param({2, 3}), log(s.x))); }},
      {"vector, matrix", [](const Scene& s) { return s.guarded(matmul(log(s.x), s.param({3, 2}))); }},
      {"computed matrix", [](const Scene& s) { return s.guarded(matmul(outer(log(s.x), s.x), log(s.x))); }},
      {"vector, computed matrix", [](const Scene& s) { return s.guarded(matmul(log(s.x), outer(log(s.x), s.x))); }},
      {"matrices", [](const Scene& s) { return s.guarded(matmul(outer(log(s.x), s.x), outer(sqrt(s.x), log(s.x)))); }},
      {"linear", [](const Scene& s) { return s.guarded(linear(log(s.x), s.param({2, 3}), false)); }},
      {"linear of rows", [](const Scene& s) { return s.guarded(linear(outer(log(s.x), s.x), s.param({3, 2}), true)); }},
      {"own gradient",
       [](const Scene& s) {
         const Expr argument = log(s.x);
         const Expr g = leaf(s.maker.graph(), Op::Placeholder, 0, {3});
         return s.guarded(with_grad(sin(argument), {argument}, {g * cos(argument)}, 0));
       }},
  };
  for (const auto& [name, build] : scenes) {
    CAPTURE(name);
    check_scene(build, false);
  }
}

TEST_CASE("single elements and rows that are not taken") {
  const std::vector<std::pair<std::string, Build>> scenes{
      {"log", [](const Scene& s) { return where(gt(s.x, 0.0), log(s.x), 0.25); }},
      {"concat, slice",
       [](const Scene& s) {
         const Expr parts = concat({log(s.x), s.x}, 0);
         return where(gt(s.x, 0.0), slice(parts, 0, 0, 3), 0.0) + sin(slice(parts, 0, 3, 6));
       }},
      {"rows", [](const Scene& s) { return where(gt(s.x, 0.0), matmul(outer(log(s.x), s.x), s.x), 0.0); }},
      {"columns", [](const Scene& s) { return where(gt(s.x, 0.0), matmul(s.x, outer(s.x, log(s.x))), 0.0); }},
      {"outer",
       [](const Scene& s) {
         const Expr positive = broadcast(gt(s.x, 0.0), {3, 3}, {0});
         return where(positive, outer(log(s.x), s.x), 0.0);
       }},
      {"elements with a sum of squares of 0", [](const Scene& s) { return norm2(max(s.x, 0.0) * 0.0, 0) + s.x; }},
      {"two conditions", [](const Scene& s) {
         const Expr positive = gt(s.x, 0.0);
         const Expr value = log(s.x);
         return where(positive, value, 0.0) * where(gt(s.x, 0.1), sin(value), 0.5);
       }}};
  for (const auto& [name, build] : scenes) {
    CAPTURE(name);
    check_scene(build, true);
  }
}

TEST_CASE("parameters of a branch that no step takes") {
  CellMaker maker;
  const Expr p = maker.param("p", {2});
  const Expr x = maker.input("x", {2});
  maker.output("y", where(gt(x, 5.0), log(p) * x, x * x));
  RandomRun random(5);
  RunArguments arguments = random.arguments(maker.cell(), 2, 2);
  arguments.params[0] = {-0.5, 0.0};
  check_gradients(maker.cell(), arguments, random, false);
}

TEST_CASE("the norm of 0 has derivative 0, to the second order") {
  CellMaker maker;
  const Expr x = maker.input("x", {3});
  maker.output("y", norm2(x, 0));
  RunArguments arguments;
  arguments.steps = 1;
  arguments.batch = 1;
  arguments.inputs = {{0, 0, 0}};
  const Weights weights{{{1}}, {}, {}};
  CHECK(gradients(maker.cell(), arguments, weights).inputs[0] == Values{0, 0, 0});
  const Gradients directions{{{1, 2, 3}}, {}, {}};
  CHECK(double_gradients(maker.cell(), arguments, weights, directions).inputs[0] == Values{0, 0, 0});
}

TEST_CASE("second derivatives where the incoming gradient is 0") {
  CellMaker maker;
  const Expr x = maker.input("x", {2});
  maker.output("y", where(gt(x, 0.0), exp(x), x));
  RunArguments arguments;
  arguments.steps = 1;
  arguments.batch = 1;
  arguments.inputs = {{0.5, -0.5}};
  // The derivative of the gradient in the direction of the incoming gradient, which is 0 here: exp(x) and 1.
  const Cell derivative = differentiate(maker.cell());
  const Weights none{{{0, 0}}, {}, {}};
  const RunArguments backward = backward_arguments(maker.cell(), arguments, interpret(maker.cell(), arguments), none);
  const Gradients second = gradients(derivative, backward, {{{1, 1}}, {}, {}});
  CHECK(second.inputs[1][0] == doctest::Approx(std::exp(0.5)));
  CHECK(second.inputs[1][1] == 1);
}

TEST_CASE("a gradient of the user's own fits the shape of its argument") {
  CellMaker maker;
  const Expr x = maker.input("x", {3});
  const Expr p = maker.param("p", {});
  const Expr value = sin(x) * p;
  const Expr g = leaf(maker.graph(), Op::Placeholder, 0, {3});
  maker.output("y", with_grad(value, {x, p}, {constant(maker.graph(), 2.0, {}), g * x}, 0));
  RunArguments arguments;
  arguments.steps = 2;
  arguments.batch = 1;
  arguments.inputs = {{1, 2, 3, 4, 5, 6}};
  arguments.params = {{0.5}};
  const Gradients got = gradients(maker.cell(), arguments, {{{1, 0, 1, 1, 1, 0}}, {}, {}});
  CHECK(got.inputs[0] == Values{2, 2, 2, 2, 2, 2});
  CHECK(got.params[0] == Values{1 + 3 + 4 + 5});
}

TEST_CASE("a constant gradient of a parameter counts each live step") {
  CellMaker maker;
  const Expr x = maker.input("x", {});
  const Expr p = maker.param("p", {});
  maker.output("y", with_grad(p * x, {p}, {constant(maker.graph(), 1.0, {})}, 0));
  RunArguments arguments;
  arguments.steps = 3;
  arguments.batch = 2;
  arguments.inputs = {{1, 2, 3, 4, 5, 6}};
  arguments.params = {{0.5}};
  arguments.live = {1, 1, 0, 1, 1, 1};
  CHECK(gradients(maker.cell(), arguments, {{}, {}, {}}).params[0] == Values{5});
}
