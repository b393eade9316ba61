// Every operation that is not elementwise, in every combination of ranks, axes and domains: first and second
// derivatives against differences.
#include <functional>
#include <map>

#include <doctest/doctest.h>

#include "ir/functions.h"
#include "passes/add_resets.h"
#include "passes/differentiate.h"
#include "tests/support/check_gradients.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

using Unary = std::function<Expr(Expr)>;
using Binary = std::function<Expr(Expr, Expr)>;

/// A value that depends on the step: a carried state and an input.
Expr carried(CellMaker& maker, const std::string& name, const Shape& shape) {
  const Expr state = maker.state("s" + name, shape, 0.2);
  const Expr value = 0.6 * state + maker.input("x" + name, shape);
  maker.next(state, 0.9 * sin(value));
  return value;
}

Expr operand(CellMaker& maker, const std::string& name, const Shape& shape, Domain domain) {
  if (domain == Domain::Step) return carried(maker, name, shape);
  const Expr param = maker.param("p" + name, shape);
  return param * (1.0 + 0.3 * param);  // some work on a parameter alone
}

void check(CellMaker& maker, Expr value) {
  maker.output("y", value * (0.5 + sin(value)));
  maker.cell().name = "test";
  RandomRun random(7);
  const Cell cell = add_resets(maker.cell());
  RunArguments arguments = random.arguments(cell, 3, 2);
  arguments.live = {1, 1, 1, 0, 1, 1};
  arguments.reset = {0, 0, 0, 1, 0, 1};
  check_gradients(cell, arguments, random);
}

void check_unary(const std::string& what, const Shape& shape, const Unary& operation) {
  for (const Domain domain : {Domain::Once, Domain::Step}) {
    INFO(what, " of ", shape.str(), domain == Domain::Once ? ", once" : ", at each step");
    CellMaker maker;
    const Expr x = operand(maker, "a", shape, domain);
    Expr value = operation(x);
    if (domain == Domain::Once) value = value * maker.input("scale", {});
    check(maker, value);
  }
}

void check_binary(const std::string& what, const Shape& a, const Shape& b, const Binary& operation) {
  for (const Domain left : {Domain::Once, Domain::Step}) {
    for (const Domain right : {Domain::Once, Domain::Step}) {
      INFO(what, " of ", a.str(), " and ", b.str(), left == Domain::Once ? ", once" : ", at each step",
           right == Domain::Once ? ", once" : ", at each step");
      CellMaker maker;
      const Expr x = operand(maker, "a", a, left);
      const Expr y = operand(maker, "b", b, right);
      Expr value = operation(x, y);
      if (left == right && left == Domain::Once) value = value * maker.input("scale", {});
      check(maker, value);
    }
  }
}

}  // namespace

TEST_CASE("contractions") {
  check_binary("matmul", {2, 3}, {3}, [](Expr a, Expr b) { return matmul(a, b); });
  check_binary("matmul", {3}, {3, 2}, [](Expr a, Expr b) { return matmul(a, b); });
  check_binary("matmul", {2, 3}, {3, 4}, [](Expr a, Expr b) { return matmul(a, b); });
  check_binary("matmul", {1, 1}, {1, 1}, [](Expr a, Expr b) { return matmul(a, b); });
  check_binary("transposed matmul", {3, 2}, {4, 3}, [](Expr a, Expr b) { return matmul(transpose(a), transpose(b)); });
  check_binary("outer", {2}, {3}, [](Expr a, Expr b) { return outer(a, b); });
}

TEST_CASE("products with shared matrices") {
  for (const bool rows : {false, true}) {
    for (const int rank : {1, 2}) {
      CAPTURE(rows);
      CAPTURE(rank);
      for (const Domain domain : {Domain::Once, Domain::Step}) {
        CellMaker maker;
        const Expr x = operand(maker, "a", rank == 1 ? Shape{3} : Shape{2, 3}, domain);
        const Expr w = operand(maker, "w", rows ? Shape{3, 4} : Shape{4, 3}, Domain::Once);
        Expr value = linear(x, w, rows);
        if (domain == Domain::Once) value = value * maker.input("scale", {});
        check(maker, value);
      }
    }
  }
}

TEST_CASE("reductions and running sums") {
  for (const Op op : {Op::Sum, Op::Prod, Op::AMax, Op::AMin}) {
    const std::string what(name(op));
    check_unary(what, {4}, [op](Expr x) { return reduce(op, x, 0); });
    check_unary(what, {1}, [op](Expr x) { return reduce(op, x, 0); });
    for (int axis : {0, 1}) {
      check_unary(what, {2, 3}, [=](Expr x) { return reduce(op, x, axis); });
    }
    for (int axis : {0, 1, 2}) {
      check_unary(what, {2, 3}, [=](Expr x) {
        const Expr cube = broadcast(x, {2, 2, 3}, {0, 2}) + 0.1 * iota(*x.graph, {2, 2, 3}, 1);
        return reduce(op, cube, axis);
      });
    }
  }
  for (const bool from_the_end : {false, true}) {
    check_unary("cumsum", {4}, [=](Expr x) { return cumsum(x, 0, from_the_end); });
    check_unary("cumsum", {2, 3}, [=](Expr x) { return cumsum(x, 0, from_the_end); });
    check_unary("cumsum", {2, 3}, [=](Expr x) { return cumsum(x, 1, from_the_end); });
  }
}

TEST_CASE("views") {
  check_unary("slice", {5}, [](Expr x) { return slice(x, 0, 1, 4); });
  check_unary("slice of rows", {3, 2}, [](Expr x) { return slice(x, 0, 1, 3); });
  check_unary("slice of columns", {3, 2}, [](Expr x) { return slice(x, 1, 0, 1); });
  check_unary("slices that overlap", {5},
              [](Expr x) { return slice(x, 0, 0, 3) * slice(x, 0, 1, 4) + slice(x, 0, 0, 3); });
  check_unary("slices of both axes", {3, 3},
              [](Expr x) { return slice(slice(x, 0, 0, 2), 1, 0, 2) * slice(slice(x, 1, 1, 3), 0, 1, 3); });
  check_unary("reshape", {2, 3}, [](Expr x) { return reshape(x, {3, 2}); });
  check_unary("transpose", {2, 3}, [](Expr x) { return transpose(x); });
  check_unary("broadcast of a scalar", {}, [](Expr x) { return broadcast_to(x, {3}); });
  check_unary("broadcast along rows", {3}, [](Expr x) { return broadcast(x, {2, 3}, {1}); });
  check_unary("broadcast along columns", {3}, [](Expr x) { return broadcast(x, {3, 2}, {0}); });
  check_unary("broadcast of size 1", {1, 3}, [](Expr x) { return broadcast_to(x, {2, 3}); });
  check_unary("broadcast of size 1", {3, 1}, [](Expr x) { return broadcast_to(x, {2, 3, 2}); });
  for (int axis : {0, 1}) {
    check_binary("concat", {2, 2}, {2, 2}, [=](Expr a, Expr b) { return concat({a, b, a}, axis); });
  }
  check_binary("concat", {2}, {3}, [](Expr a, Expr b) { return concat({a, b}, 0); });
}

TEST_CASE("functions of the language that are made of other operations") {
  check_unary("mean", {2, 3}, [](Expr x) { return mean(x, 1); });
  check_unary("softmax", {3}, [](Expr x) { return softmax(x, 0); });
  check_unary("softmax", {2, 3}, [](Expr x) { return softmax(x, 0); });
  check_unary("argmax_onehot", {3}, [](Expr x) { return argmax_onehot(x, 0) * x; });
  check_unary("norm2", {3}, [](Expr x) { return norm2(x, 0); });
  check_unary("repeat", {2, 3}, [](Expr x) { return repeat(x, 2); });
  check_unary("tile", {2, 3}, [](Expr x) { return tile(x, 2); });
  check_binary("layer_norm", {4}, {4}, [](Expr a, Expr b) { return layer_norm(a, b, b, 1e-2, 0); });
  check_binary("layer_norm", {2, 3}, {2}, [](Expr a, Expr b) { return layer_norm(a, b, {}, 1e-2, 0); });
  check_binary("rms_norm", {4}, {4}, [](Expr a, Expr b) { return rms_norm(a, b, 1e-2, 0); });
}

TEST_CASE("products are right at zeros, to any order") {
  CellMaker maker;
  const Expr x = maker.input("x", {4});
  maker.output("y", reduce(Op::Prod, x, 0));
  RandomRun random(3);
  for (const Values& values : {Values{2, 0, 3, 5}, Values{2, 0, 0, 5}, Values{0, 0, 0, 5}}) {
    RunArguments arguments;
    arguments.steps = 1;
    arguments.batch = 1;
    arguments.inputs = {values};
    check_gradients(maker.cell(), arguments, random);
  }
}

TEST_CASE("the largest elements share the gradient equally") {
  for (const Op op : {Op::AMax, Op::AMin}) {
    CellMaker maker;
    const double sign = op == Op::AMax ? 1 : -1;
    maker.output("y", reduce(op, sign * maker.input("x", {4}), 0));
    RunArguments arguments;
    arguments.steps = 1;
    arguments.batch = 1;
    arguments.inputs = {{1, 3, 2, 3}};
    CHECK(gradients(maker.cell(), arguments, {{{0.8}}, {}, {}}).inputs[0] == Values{0, sign * 0.4, 0, sign * 0.4});
  }
}

TEST_CASE("slices that tile a value make one concatenation of their gradients") {
  CellMaker maker;
  const Expr z = matmul(maker.param("W", {6, 2}), maker.input("x", {2}));
  maker.output("y", sigmoid(slice(z, 0, 0, 2)) * tanh(slice(z, 0, 2, 4)) + exp(slice(z, 0, 4, 6)));
  const std::string text = print(differentiate(maker.cell()));
  CHECK(text.find("concat(") != std::string::npos);
  CHECK(text.find("full(") == std::string::npos);
}
