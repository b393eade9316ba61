// Every row of the table of elementwise operations: its derivatives, and those of its derivatives, against differences.
#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include "ir/interpret_cell.h"
#include "tests/support/gradients.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr std::array<double, 7> kPoints{-2.3, -1.4, -0.35, 0.15, 0.6, 1.1, 2.7};

/// The language defines these gradients; they are not derivatives of the value.
bool has_own_gradient(Op op) { return op == Op::Step || op == Op::Detach || op == Op::ClipGrad; }

/// One step, one sample, one number for each argument; `params` makes all but the first one params.
struct RowCell {
  Cell cell;
  int arity;

  RowCell(const ElementwiseInfo& row, bool params) : arity(row.arity) {
    CellMaker maker;
    std::vector<Expr> arguments;
    for (int i = 0; i < row.arity; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      arguments.push_back(params && i > 0 ? maker.param(name, {}) : maker.input(name, {}));
    }
    maker.output("y", cellfuse::apply(row.op, arguments));
    cell = maker.cell();
    cell.name = "row";
  }

  RunArguments at(const std::array<double, 3>& point) const {
    RunArguments arguments;
    arguments.steps = 1;
    arguments.batch = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(arity); ++i) {
      (i < cell.inputs.size() ? arguments.inputs : arguments.params).push_back({point[i]});
    }
    return arguments;
  }
};

/// All combinations of points for the arguments of a row.
std::vector<std::array<double, 3>> combinations(int arity) {
  std::vector<std::array<double, 3>> result;
  for (double a : kPoints) {
    for (double b : arity > 1 ? std::vector<double>(kPoints.begin(), kPoints.end()) : std::vector<double>{0}) {
      for (double c : arity > 2 ? std::vector<double>(kPoints.begin(), kPoints.end()) : std::vector<double>{0}) {
        // Shifted, so that no two arguments are equal, nor their quotient a whole number.
        result.push_back({a, b * 1.03 + 0.011, c * 1.07 - 0.017});
      }
    }
  }
  return result;
}

bool finite(const Gradients& g) {
  for (const auto* list : {&g.inputs, &g.params}) {
    for (const Values& values : *list) {
      for (double value : values) {
        if (!std::isfinite(value)) return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("first derivatives of every row") {
  const Weights weights{{{0.7}}, {}, {}};
  for (const ElementwiseInfo& row : elementwise_ops()) {
    if (has_own_gradient(row.op)) continue;
    const RowCell built(row, false);
    int compared = 0;
    for (const auto& point : combinations(row.arity)) {
      const RunArguments arguments = built.at(point);
      auto value = [&](const RunArguments& moved) { return loss(interpret(built.cell, moved), weights); };
      const Gradients got = gradients(built.cell, arguments, weights);
      const Gradients want = differences(arguments, got, value, 1e-6);
      if (!finite(want)) continue;
      ++compared;
      INFO(name(row.op), " at ", point[0], ", ", point[1], ", ", point[2]);
      CHECK(scaled_error(got, want) < 1e-7);
    }
    CAPTURE(name(row.op));
    CHECK(compared >= 3);
  }
}

TEST_CASE("second derivatives of every row") {
  const Weights weights{{{0.7}}, {}, {}};
  for (const ElementwiseInfo& row : elementwise_ops()) {
    for (const bool params : {false, true}) {
      if (params && row.arity == 1) continue;
      const RowCell built(row, params);
      int compared = 0;
      const auto points = combinations(row.arity);
      for (std::size_t i = 0; i < points.size(); i += row.arity == 3 ? 5 : 1) {
        // A clipped gradient of 0 must be 0, or what is differentiated here is no linear function of the weights.
        if (row.op == Op::ClipGrad && (points[i][1] > 0 || points[i][2] < 0)) continue;
        const RunArguments arguments = built.at(points[i]);
        Gradients directions = gradients(built.cell, arguments, weights);
        for (auto* list : {&directions.inputs, &directions.params}) {
          for (std::size_t k = 0; k < list->size(); ++k) (*list)[k] = {0.9 - 0.4 * static_cast<double>(k)};
        }
        auto value = [&](const RunArguments& moved) { return dot(gradients(built.cell, moved, weights), directions); };
        const Gradients got = double_gradients(built.cell, arguments, weights, directions);
        const Gradients want = differences(arguments, got, value, 1e-5);
        if (!finite(want)) continue;
        ++compared;
        INFO(name(row.op), " at ", points[i][0], ", ", points[i][1], ", ", points[i][2]);
        CHECK(scaled_error(got, want) < 1e-6);
      }
      CAPTURE(name(row.op));
      CHECK(compared >= 3);
    }
  }
}

TEST_CASE("gradients that the language defines") {
  auto gradient = [](Op op, const std::array<double, 3>& point, double g) {
    const RowCell built(elementwise(op), false);
    return gradients(built.cell, built.at(point), {{{g}}, {}, {}}).inputs[0][0];
  };
  for (double x : {-2.0, -0.1, 0.0, 0.3}) {
    CHECK(gradient(Op::Step, {x, 0, 0}, 0.7) == doctest::Approx(0.7 / std::pow(1 + 10 * std::abs(x), 2)));
    CHECK(gradient(Op::Detach, {x, 0, 0}, 0.7) == 0);
    CHECK(gradient(Op::ClipGrad, {x, -0.5, 0.25}, 0.7) == 0.25);
    CHECK(gradient(Op::ClipGrad, {x, -0.5, 0.25}, -0.7) == -0.5);
    CHECK(gradient(Op::ClipGrad, {x, -0.5, 0.25}, 0.1) == 0.1);
  }
}

TEST_CASE("gradients at kinks and ties") {
  auto gradient = [](Op op, const std::array<double, 3>& point) {
    const RowCell built(elementwise(op), false);
    std::vector<double> result;
    for (const Values& g : gradients(built.cell, built.at(point), {{{1.0}}, {}, {}}).inputs) result.push_back(g[0]);
    return result;
  };
  using List = std::vector<double>;
  CHECK(gradient(Op::Relu, {0, 0, 0}) == List{0});
  CHECK(gradient(Op::Abs, {0, 0, 0}) == List{0});
  CHECK(gradient(Op::Min, {2, 2, 0}) == List{0.5, 0.5});
  CHECK(gradient(Op::Max, {2, 2, 0}) == List{0.5, 0.5});
  CHECK(gradient(Op::Clamp, {1, 1, 2}) == List{1, 0, 0});
  CHECK(gradient(Op::Clamp, {2, 1, 2}) == List{1, 0, 0});
  CHECK(gradient(Op::Clamp, {3, 1, 2}) == List{0, 0, 1});
  CHECK(gradient(Op::Clamp, {0, 1, 2}) == List{0, 1, 0});
  CHECK(gradient(Op::Mod, {7.5, 2, 0}) == List{1, -3});
  CHECK(gradient(Op::Mod, {-7.5, 2, 0}) == List{1, 4});
  CHECK(gradient(Op::Pow, {0, 2, 0}) == List{0, 0});
  CHECK(gradient(Op::Pow, {0, 1, 0}) == List{1, 0});
}
