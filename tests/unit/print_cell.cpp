#include <string>

#include <doctest/doctest.h>

#include "ir/functions.h"
#include "passes/add_resets.h"
#include "passes/differentiate.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

Cell small_cell() {
  CellMaker maker;
  maker.cell().name = "small";
  maker.cell().dims = {{"H", 4}, {"I", 3}};
  const Extent H(4, Dim::symbol("H"));
  const Extent I(3, Dim::symbol("I"));
  const Expr x = maker.input("x", {I});
  const Expr h = maker.state("h", {H});
  const Expr W = maker.param("W", {Extent(2) * H, I});
  const Expr z = matmul(W, x);
  const Expr gate = sigmoid(slice(z, 0, 0, H));
  maker.graph().set_name(gate.id, "gate");
  const Expr fresh = gate * h + (1.0 - gate) * slice(z, 0, 4, H);
  maker.next(h, fresh);
  maker.output("h", fresh);
  maker.output("total", sum(fresh, 0));
  return maker.cell();
}

}  // namespace

TEST_CASE("a cell as text") {
  CHECK(print(small_cell()) == R"(cell small(H=4, I=3) {
  input  x[I]
  state  h[H] = 0
  param  W[2*H, I]

  %0: [2*H] = W @ x
  %1: [H] = %0[0:4]
  gate: [H] = sigmoid(%1)
  %2: [H] = %0[4:8]
  %3: [H] = 1 - gate
  %4: [H] = %3 * %2
  %5: [H] = gate * h
  %6: [H] = %5 + %4
  %7 = sum(%6, axis=0)
  h' = %6
  output h[H] = %6
  output total = %7
}
)");
}

TEST_CASE("the text does not depend on values that nothing needs") {
  Cell cell = small_cell();
  const std::string before = print(cell);
  Graph shuffled;
  cell.expr(cell.states[0].next) * 2.0;
  CHECK(print(cell) == before);
}

TEST_CASE("names that are taken get a number") {
  CellMaker maker;
  const Expr x = maker.input("x", {2});
  const Expr once = sin(x);
  const Expr twice = sin(once);
  const Expr thrice = sin(twice);
  for (const Expr& value : {once, twice, thrice}) maker.graph().set_name(value.id, value.id == once.id ? "x" : "q");
  maker.output("y", thrice);
  const std::string text = print(maker.cell());
  CHECK(text.find("x.1: [2] = sin(x)") != std::string::npos);
  CHECK(text.find("q: [2] = sin(x.1)") != std::string::npos);
  CHECK(text.find("q.1: [2] = sin(q)") != std::string::npos);
}

TEST_CASE("every kind of value has a text") {
  CellMaker maker;
  Graph& graph = maker.graph();
  const Expr x = maker.input("x", {2, 3});
  const Expr s = maker.state("s", {3});
  const Expr w = maker.param("w", {3, 3});
  const Expr row = reshape(slice(x, 0, 0, 1), {3});
  const Expr argument = linear(row, w, false) + linear(s, w, true);
  const Expr own = with_grad(argument, {row}, {leaf(graph, Op::Placeholder, 0, {3})}, 0);
  const Expr noise = random(graph, 2, {3}, true, true) + random(graph, 3, {3}, false, false);
  maker.next(s, where(gt(own, 0.5), noise, cumsum(own, 0, true)) * leaf(graph, Op::StepIndex, 0, {}));
  maker.output("y", concat({slice(x, 1, 1, 2), constant(graph, 2, {2, 1})}, 1));
  maker.output("z", broadcast(own, {2, 3}, {1}) * transpose(reshape(x, {3, 2})));
  maker.cell().results.push_back({"r", accumulate(accumulate(own, Domain::Sample), Domain::Once).id, Domain::Once});
  maker.cell().results.push_back({"o", accumulate_outer(row, own).id, Domain::Once});
  maker.cell().results.push_back({"f", leaf(graph, Op::Final, 0, {3}).id, Domain::Sample});
  verify(maker.cell());
  const std::string text = print(add_resets(maker.cell()));
  for (const std::string part : {"with_grad.0(",
                                 " <- gradient.0)",
                                 "random.2([3], shared by steps)",
                                 "random.3([3], shared by samples)",
                                 "linear(w, ",
                                 ", w)",
                                 "cumsum(",
                                 ", axis=0, from the end)",
                                 "full([2, 1], 2)",
                                 "axes=[1])",
                                 "x[:, 1:2]",
                                 "; steps)",
                                 "; samples)",
                                 "; steps, samples)",
                                 "final(s)",
                                 "given(s)",
                                 "initial(s)",
                                 "where(",
                                 "broadcast(t, [3], axes=[])",
                                 "reset  # reset flag",
                                 "start s = "}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("a derivative as text") {
  const std::string text = print(differentiate(small_cell()));
  for (const std::string part :
       {"cell small_backward(H=4, I=3) backward {", "input  h[H]  # recorded",
        "input  d_output_h[H]  # gradient of an output", "input  d_output_total  # gradient of an output",
        "  sample h[H]\n", "  d_h' = ", "output d_x[I] = ", "result d_W[2*H, I] = ", "result d_h[H] = 0",
        ": [2*H, I] once = accumulate("}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}
