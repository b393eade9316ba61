#include "passes/differentiate.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "passes/add_resets.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

template <typename Declared>
std::vector<std::string> names(const std::vector<Declared>& list) {
  std::vector<std::string> result;
  result.reserve(list.size());
  for (const Declared& declared : list) result.push_back(declared.name);
  return result;
}

using Names = std::vector<std::string>;

Cell small_cell() {
  CellMaker maker;
  maker.cell().name = "small";
  const Expr x = maker.input("x", {2});
  const Expr h = maker.state("h", {2});
  const Expr k = maker.state("k", {});
  const Expr p = maker.param("p", {2});
  const Expr b = maker.param("b", {2}, false);
  maker.next(h, sin(p * h + x + b));
  maker.next(k, k + sum(x, 0));
  maker.output("y", h * k);
  maker.cell().outputs.push_back({"kept", h.id, OutputRole::Record});
  return add_resets(maker.cell());
}

}  // namespace

TEST_CASE("what a derivative takes and gives, in order") {
  const Cell derivative = differentiate(small_cell());
  verify(derivative);
  CHECK(derivative.backward);
  CHECK(names(derivative.inputs) == Names{"x", "reset", "h", "k", "d_output_y"});
  CHECK(derivative.inputs[1].role == InputRole::Reset);
  CHECK(derivative.inputs[2].role == InputRole::Record);
  CHECK(derivative.inputs[4].role == InputRole::OutputGrad);
  CHECK(names(derivative.states) == Names{"d_h", "d_k"});
  CHECK(names(derivative.sample_inputs) == Names{"h", "k"});
  CHECK(names(derivative.params) == Names{"p", "b"});
  CHECK(names(derivative.outputs) == Names{"d_x"});
  CHECK(names(derivative.results) == Names{"d_p", "d_h", "d_k"});
  CHECK(derivative.results[0].domain == Domain::Once);
  CHECK(derivative.results[1].domain == Domain::Sample);
}

TEST_CASE("the derivative of a derivative") {
  const Cell second = differentiate(differentiate(small_cell()));
  verify(second);
  CHECK(!second.backward);
  CHECK(names(second.inputs) == Names{"x", "reset", "h", "k", "d_output_y", "d_h", "d_k", "d_output_d_x"});
  CHECK(names(second.states) == Names{"d_d_h", "d_d_k"});
  CHECK(names(second.sample_inputs) == Names{"d_h", "d_k", "h", "k", "d_result_d_h", "d_result_d_k"});
  CHECK(names(second.params) == Names{"p", "b", "d_result_d_p"});
  CHECK(names(second.outputs) == Names{"d_x", "d_h", "d_k", "d_d_output_y"});
  CHECK(names(second.results) == Names{"d_p", "d_d_h", "d_d_k", "d_h", "d_k"});
  verify(differentiate(second));
}

TEST_CASE("a derivative that is no single loop is an error that says so") {
  CellMaker maker;
  const Expr p = maker.param("p", {2});
  maker.output("y", maker.input("x", {2}) * cellfuse::apply(Op::ClipGrad, {p, -1.0, 1.0}));
  const Cell first = differentiate(maker.cell());
  verify(first);
  try {
    differentiate(first);
    FAIL("no error");
  } catch (const CompileError& error) {
    CHECK(std::string(error.what()).find("known only after the last step") != std::string::npos);
  }
}

TEST_CASE("work on parameters alone is differentiated after the loop") {
  CellMaker maker;
  const Expr U = maker.param("U", {2, 2});
  maker.output("y", matmul(sin(U - transpose(U)), maker.input("x", {2})));
  const Cell derivative = differentiate(maker.cell());
  const std::vector<bool> live = reachable(derivative.graph, derivative.roots());
  int sums = 0;
  for (NodeId id = 0; id < derivative.graph.size(); ++id) {
    const Node& node = derivative.graph[id];
    if (!live[id]) continue;
    if (node.op == Op::Accumulate) ++sums;
    if (node.op == Op::Cos || node.op == Op::Transpose) CHECK(node.domain == Domain::Once);
  }
  CHECK(sums == 1);
}
