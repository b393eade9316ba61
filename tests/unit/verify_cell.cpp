#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

/// What is wrong with a sound cell after `damage`.
std::string complaint(const std::function<void(CellMaker&, Expr x, Expr s)>& damage) {
  CellMaker maker;
  const Expr x = maker.input("x", {2});
  const Expr s = maker.state("s", {2});
  maker.next(s, s + x);
  maker.output("y", s * x);
  verify(maker.cell());
  damage(maker, x, s);
  try {
    verify(maker.cell());
  } catch (const InternalError& error) {
    return error.what();
  }
  return "nothing";
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Node node_of(Op op, const Shape& shape, const std::vector<NodeId>& operands) {
  Node node;
  node.op = op;
  node.shape = shape;
  node.operands = operands;
  return node;
}

}  // namespace

TEST_CASE("shapes and operands") {
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr) {
                   m.output("z", {&m.graph(), m.graph().add(node_of(Op::Add, {2}, {x.id}))});
                 }),
                 "wrong number of operands"));
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr) {
                   m.output("z", {&m.graph(), m.graph().add(node_of(Op::Sin, {3}, {x.id}))});
                 }),
                 "differ in shape"));
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr) {
                   m.output("z", {&m.graph(), m.graph().add(node_of(Op::Sum, {2}, {x.id}))});
                 }),
                 "shape along an axis"));
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr) {
                   m.output("z", {&m.graph(), m.graph().add(node_of(Op::MatMul, {2}, {x.id, x.id}))});
                 }),
                 "matmul ranks"));
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr) {
                   Node slice = node_of(Op::Slice, {2}, {x.id});
                   slice.begin = 1;
                   slice.end = 3;
                   m.output("z", {&m.graph(), m.graph().add(slice)});
                 }),
                 "slice range"));
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr) {
                   m.output("z", {&m.graph(), m.graph().add(node_of(Op::Concat, {3}, {x.id}))});
                 }),
                 "concat size"));
}

TEST_CASE("leaves") {
  CHECK(mentions(complaint([](CellMaker& m, Expr, Expr) { m.output("z", leaf(m.graph(), Op::Param, 0, {2})); }),
                 "index out of range"));
  CHECK(mentions(complaint([](CellMaker& m, Expr, Expr) { m.output("z", leaf(m.graph(), Op::Input, 0, {3})); }),
                 "not the declared shape"));
  CHECK(mentions(complaint([](CellMaker& m, Expr, Expr) { m.output("z", leaf(m.graph(), Op::Placeholder, 0, {2})); }),
                 "incoming gradient"));
}

TEST_CASE("time") {
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr s) { m.start(s, x); }), "depends on the step"));
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr) { m.output("z", x + accumulate(x, Domain::Once)); }),
                 "each step depends on a sum"));
  CHECK(mentions(complaint([](CellMaker& m, Expr, Expr s) { m.next(s, leaf(m.graph(), Op::Final, 0, {2})); }),
                 "after the last step"));
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr) { m.cell().results.push_back({"r", x.id, Domain::Sample}); }),
                 "a value for each step"));
}

TEST_CASE("states") {
  CHECK(mentions(complaint([](CellMaker& m, Expr, Expr) { m.cell().states[0].next = kNoNode; }), "not in the graph"));
  CHECK(mentions(complaint([](CellMaker& m, Expr x, Expr s) { m.next(s, sum(x, 0)); }), "another shape"));
}
