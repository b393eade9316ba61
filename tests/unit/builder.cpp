#include "frontend/builder/cell_builder.h"

#include <map>
#include <string>

#include <doctest/doctest.h>

using namespace cellfuse;
using namespace cellfuse::build;

namespace {

Cell from_text(const std::string& text, const Binding& binding) {
  return ParsedFile("x.cell", text).build("", binding);
}

/// Number of nodes of each operation and shape: the order in which C++ evaluates arguments is its own.
std::map<std::string, int> operations(const Cell& cell) {
  std::map<std::string, int> counts;
  for (NodeId id = 0; id < cell.graph.size(); ++id) {
    ++counts[std::string(name(cell.graph[id].op)) + cell.graph[id].shape.str()];
  }
  return counts;
}

std::string message(const CellBuilder& cell, const Binding& binding) {
  try {
    cell.build(binding);
  } catch (const CompileError& error) {
    const std::string text = error.what();
    const std::size_t folder = text.rfind('/', text.find("builder.cpp:"));
    return folder == std::string::npos ? text : text.substr(folder + 1);
  }
  return "no error";
}

std::string at(int line) { return "builder.cpp:" + std::to_string(line) + ":"; }

}  // namespace

TEST_CASE("an LSTM equals its text") {
  CellBuilder cell("lstm");
  const Var I = cell.dim("I");
  const Var H = cell.dim("H");
  const Var x = cell.input("x", {I});
  State h = cell.state("h", {H});
  State c = cell.state("c", {H});
  const Var W = cell.param("W", {4 * H, I});
  const Var U = cell.param("U", {4 * H, H});
  const Var b = cell.param("b", {4 * H});
  const auto [i, f, g, o] = split<4>(W * x + U * h + b);
  c.next(sigmoid(f) * c + sigmoid(i) * tanh(g));
  h.next(sigmoid(o) * tanh(c.next()));
  cell.output(h);

  const Binding binding{{{"I", 3}, {"H", 4}}, {}};
  Cell built = cell.build(binding);
  verify(built);
  const Cell text = from_text(
      "cell lstm(I, H) {\n input x[I]\n state h[H], c[H]\n param W[4*H, I], U[4*H, H], b[4*H]\n"
      " i, f, g, o = split(W @ x + U @ h + b, 4)\n"
      " c' = sigmoid(f) * c + sigmoid(i) * tanh(g)\n h' = sigmoid(o) * tanh(c')\n output h'\n}",
      binding);
  CHECK(operations(built) == operations(text));
  CHECK(built.outputs[0].name == "h");
}

TEST_CASE("the whole language, printed") {
  CellBuilder cell("all");
  const Var H = cell.dim("H");
  const Var N = cell.dim("N", 2);
  const Var k = cell.constant("k", 0.5);
  const Var x = cell.input("x", {H});
  const Var h0 = cell.param("h0", {H});
  const Var A = cell.buffer("A", {H, H});
  State h = cell.state("h", {H}, h0);
  const Var fired = cell.with_gradient(
      {x - k}, [](const auto& a) { return a[0] > 0; },
      [](const auto& a, const Var& g) { return std::vector{g / (1 + abs(a[0]))}; });
  const Var rounds = cell.repeat(0, N, h, [&](const Var& round, const Var& q) { return tanh(A * q) + round; });
  const Var outer_part = x(all, new_axis) * h(new_axis, all);
  const Var mixed = where(x > 0 && !(h == 0), sum(outer_part, named("axis", 0)), concat({x(range(0, 1)), h(range(1))}));
  const Var gate = sigmoid(mixed + A(1) + A(0, 1) + max(x, 0.25)).as("gate");
  h.next(gate * rounds + fired - cell.step_index() * layer_norm(multiply(A, x), named("eps", 1e-3))(0));
  cell.output("y", zeros(H) + h.next());
  const Binding binding{{{"H", 3}}, {}};
  Cell built = cell.build(binding);
  verify(built);
  const Cell text = from_text(
      "cell all(H, N = 2; k = 0.5) {\n input x[H]\n param h0[H]\n buffer A[H, H]\n state h[H] = h0\n"
      " fn fire(v) = v > 0 grad g / (1 + abs(v))\n"
      " fired_ = fire(x - k)\n q_ = h\n for r in 0..N { q_ = tanh(A @ q_) + r }\n"
      " o_ = x[:, None] * h[None, :]\n"
      " m_ = where(x > 0 and not (h == 0), sum(o_, axis=0), concat(x[0:1], h[1:]))\n"
      " gate = sigmoid(m_ + A[1] + A[0, 1] + max(x, 0.25))\n"
      " h' = gate * q_ + fired_ - t * layer_norm(A * x, eps=1e-3)[0]\n output y = zeros(H) + h'\n}",
      binding);
  CHECK(operations(built) == operations(text));
  CHECK(built.graph.size() == text.graph.size());
}

TEST_CASE("a value used twice is computed once, also a random one") {
  CellBuilder cell("d");
  const Var x = cell.input("x", {3});
  const Var kept = dropout(x, 0.5);
  cell.output("y", kept + kept);
  Cell built = cell.build({});
  int draws = 0;
  for (NodeId id = 0; id < built.graph.size(); ++id) draws += built.graph[id].op == Op::Random ? 1 : 0;
  CHECK(draws == 1);
}

TEST_CASE("mistakes point at the caller's line") {
  CellBuilder cell("bad");
  const Var H = cell.dim("H");
  const Var x = cell.input("x", {H});
  const int declared = __LINE__ - 1;
  const Var W = cell.param("W", {4 * H, H});
  const Var y = x + W * x;
  const int line = __LINE__ - 1;
  cell.output("y", y);
  const std::string text = message(cell, {{{"H", 4}}, {}});
  CAPTURE(text);
  CHECK(text.starts_with(at(line)));
  CHECK(text.find("error: `+` cannot combine [H] with [4*H] (H = 4)\n    const Var y = x + W * x;\n") !=
        std::string::npos);
  CHECK(text.find(":" + std::to_string(declared) + ":") != std::string::npos);
  CHECK(text.find("note: `x` is declared as [H] here") != std::string::npos);
}

TEST_CASE("mistakes of the builder itself") {
  CellBuilder other("other");
  const Var foreign = other.input("x");
  CellBuilder cell("mine");
  const Var x = cell.input("x y");
  const int line = __LINE__ - 1;
  cell.output("y", x + foreign);
  const std::string text = message(cell, {});
  CHECK(text.starts_with(at(line)));
  CHECK(text.find("`x y` is not a name") != std::string::npos);
  CHECK(text.find("this value belongs to another cell") != std::string::npos);
  CHECK_THROWS_AS(zeros(3), UsageError);
}

TEST_CASE("a long chain is flat") {
  CellBuilder cell("long_chain");
  const Var x = cell.input("x", {2});
  Var total = x;
  for (int i = 0; i < 5000; ++i) total = total * 0.5 + x;
  cell.output("y", total);
  CHECK(cell.build({}).graph.size() > 5000);
}
