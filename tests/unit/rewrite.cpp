#include "passes/rewrite.h"

#include <doctest/doctest.h>

#include "ir/interpret_cell.h"
#include "passes/add_resets.h"
#include "passes/bind_mode.h"
#include "passes/names.h"
#include "passes/strip_annotations.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

Cell counter() {
  CellMaker maker;
  const Expr x = maker.input("x", {});
  const Expr s = maker.state("s", {}, 10);
  const Expr sum = s + x;
  maker.graph().set_name(sum.id, "total");
  maker.next(s, sum);
  maker.output("y", sum);
  return maker.cell();
}

RunArguments three_steps() {
  RunArguments arguments;
  arguments.steps = 3;
  arguments.batch = 1;
  arguments.inputs = {{1, 2, 3}};
  return arguments;
}

}  // namespace

TEST_CASE("a graph is rebuilt with substitutions, names and without what nothing needs") {
  Cell cell = counter();
  const std::size_t size = cell.graph.size();
  cell.expr(cell.states[0].next) * 3.0;
  CHECK(prune(cell).graph.size() == size);

  const Cell product = rewrite(cell, [](Graph& target, const Node& node, NodeId) {
    if (node.op != Op::Add) return kNoNode;
    return (Expr{&target, node.operands[0]} * Expr{&target, node.operands[1]}).id;
  });
  CHECK(product.graph.name(product.states[0].next) == "total");
  CHECK(interpret(product, three_steps()).outputs[0] == Values{10, 20, 60});
}

TEST_CASE("the mode becomes a constant") {
  CellMaker maker;
  maker.output("y", maker.input("x", {}) * leaf(maker.graph(), Op::Training, 0, {}));
  CHECK_THROWS(interpret(maker.cell(), three_steps()));
  CHECK(interpret(bind_mode(maker.cell(), true), three_steps()).outputs[0] == Values{1, 2, 3});
  CHECK(interpret(bind_mode(maker.cell(), false), three_steps()).outputs[0] == Values{0, 0, 0});
}

TEST_CASE("initial values come from the caller where there are any") {
  RunArguments arguments = three_steps();
  const Cell cell = add_initial_values(counter());
  CHECK(interpret(cell, arguments).finals[0] == Values{16});
  arguments.initial = {Values{20}};
  CHECK(interpret(cell, arguments).finals[0] == Values{26});
  CHECK(interpret(counter(), arguments).finals[0] == Values{16});
  CHECK(print(add_initial_values(cell)) == print(cell));
}

TEST_CASE("a reset reads the start instead of the state") {
  const Cell cell = add_resets(counter());
  REQUIRE(cell.inputs.back().role == InputRole::Reset);
  verify(cell);
  RunArguments arguments = three_steps();
  arguments.inputs.emplace_back();
  arguments.reset = {0, 0, 1};
  CHECK(interpret(cell, arguments).outputs[0] == Values{11, 13, 13});
  arguments.initial = {Values{20}};
  CHECK(interpret(cell, arguments).outputs[0] == Values{21, 23, 23});
  CHECK_THROWS(add_resets(cell));
}

TEST_CASE("annotations disappear, values stay") {
  CellMaker maker;
  const Expr x = maker.input("x", {});
  const Expr own = with_grad(x * 2.0, {x}, {leaf(maker.graph(), Op::Placeholder, 0, {}) * 5.0}, 0);
  maker.output("y", detach(own) + cellfuse::apply(Op::ClipGrad, {own, -1.0, 1.0}));
  const Cell bare = strip_annotations(maker.cell());
  CHECK(print(bare).find("grad") == std::string::npos);
  CHECK(print(bare).find("detach") == std::string::npos);
  CHECK(interpret(bare, three_steps()).outputs == interpret(maker.cell(), three_steps()).outputs);
}

TEST_CASE("unused names") {
  const std::vector<CellInput> inputs{{"a", {}, InputRole::Data, {}}, {"a_2", {}, InputRole::Data, {}}};
  CHECK(unused_name("b", inputs) == "b");
  CHECK(unused_name("a", inputs) == "a_3");
}
