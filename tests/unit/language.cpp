#include "frontend/language/language.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "frontend/cells/cells.h"
#include "frontend/language/functions.h"
#include "ir/ops.h"

using namespace cellfuse;

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = CELLFUSE_SOURCE_DIR;

Cell build(const std::string& text, const Binding& binding = {}) {
  return ParsedFile("x.cell", text).build("", binding);
}

/// The cell `c(H, N)` with input x[H], state h[H] and these statements, at H = 6, N = 3.
Cell body(const std::string& statements) {
  return build("cell c(H, N; rate = 0.5) {\n input x[H]\n state h[H]\n" + statements + "\n h' = x\n}\n",
               {{{"H", 6}, {"N", 3}}, {}});
}

const Node& output(const Cell& cell) { return cell.graph[cell.outputs.at(0).node]; }

/// Value of an output that is a number, or the shape of one that is not.
double number(const std::string& expression) {
  const Cell cell = body("output y = " + expression);
  const Node& node = output(cell);
  REQUIRE(node.op == Op::Constant);
  return node.value;
}
std::string shape(const std::string& expression) { return output(body("output y = " + expression)).shape.str(); }

std::string thrown(const std::string& text, const Binding& binding) {
  try {
    build(text, binding);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("every published and every ready cell is free of errors and builds") {
  std::vector<ParsedFile> files;
  for (const auto& entry : fs::directory_iterator(kRoot / "tests/zoo")) {
    if (entry.path().extension() == ".cell") files.push_back(read_cell_file(entry.path().string()));
  }
  CHECK(files.size() == 56);
  for (const BuiltinCell& cell : builtin_cells()) files.emplace_back(std::string(cell.name), std::string(cell.text));
  for (const ParsedFile& file : files) {
    REQUIRE(file.cell_names().size() == 1);
    CAPTURE(file.cell_names()[0]);
    for (const Diagnostic& diagnostic : file.check()) {
      CHECK(diagnostic.severity == Severity::Warning);
      CHECK(diagnostic.message.starts_with("this cell needs "));
    }
    Binding binding;
    for (const CellInfo::Dimension& dim : file.info().dims) binding.dims[dim.name] = 4;
    std::vector<Diagnostic> warnings;
    verify(file.build("", binding, &warnings));
    CHECK(render(warnings) == "");
  }
}

TEST_CASE("numbers are known when the cell is compiled") {
  CHECK(number("2 ^ 3 ^ 2 - 1") == 511);
  CHECK(number("-2 ^ 2") == -4);
  CHECK(number("sqrt(H + N) * rate") == 1.5);
  CHECK(number("H / 4") == 1.5);
  CHECK(number("7 - 2 - 1") == 4);
  CHECK(number("1 < 2 and not 3 == 4") == 1);
  CHECK(number("where(N > 2, 5, 7)") == 5);
  CHECK(number("mod(-1, H)") == 5);
}

TEST_CASE("shapes keep the user's dimensions") {
  CHECK(shape("concat(x, h)") == "[2*H]");
  CHECK(shape("x[:, None] * h[None, :]") == "[H, H]");
  CHECK(shape("outer(x, x[0:N])") == "[H, N]");
  CHECK(shape("zeros(4*H, N)") == "[4*H, N]");
  CHECK(shape("outer(x, h)[N:]") == "[H - N, H]");
  CHECK(shape("outer(x, h)[:, 0:2]") == "[H, 2]");
  CHECK(shape("outer(x, h)[1]") == "[H]");
  CHECK(shape("outer(x, h)[:, 1]") == "[H]");
  CHECK(shape("outer(x, h)[0, 1]") == "[]");
}

TEST_CASE("functions along axes and functions of shapes") {
  CHECK(shape("sum(outer(x, h), axis=0)") == "[H]");
  CHECK(shape("amax(zeros(H, N))") == "[H]");
  CHECK(shape("mean(zeros(H, N), axis=-2)") == "[N]");
  CHECK(shape("softmax(zeros(H, N), axis=0)") == "[H, N]");
  CHECK(shape("repeat(x, N)") == "[H*N]");
  CHECK(shape("tile(zeros(H, N), 2)") == "[H, 2*N]");
  CHECK(shape("transpose(zeros(H, N))") == "[N, H]");
  CHECK(shape("reshape(x, N, H/N)") == "[N, H/N]");
  CHECK(shape("eye(N)") == "[N, N]");
  CHECK(shape("layer_norm(zeros(N, H), x, 0.5)") == "[N, H]");
  CHECK(shape("ones(floor(H / 4))") == "[1]");
}

TEST_CASE("loops are unrolled and their last values stay") {
  const Cell cell = body("q = x\n for k in 0..N { q = q + k\n last = k }\n output y = q * last");
  CHECK(cell.graph.size() > 0);
  CHECK(body("for k in 1..N { a = x[k] }\n output y = a").graph[0].op != Op::Constant);
  CHECK(output(body("s = 0\n for i in 0..N { for j in 0..i { s = s + j } }\n output y = s")).value == 1);
  CHECK(output(body("s = x\n for k in 0..2 { s = concat(s, s) }\n output y = s")).shape.str() == "[4*H]");
  // Counters of loops one after another may share a name.
  CHECK(output(body("for k in 0..2 { a = k }\n for k in 0..3 { b = k }\n output y = a + b")).value == 3);
}

TEST_CASE("a function sees the names of its cell, its own names are its own") {
  const std::string text =
      "fn twice(x) { two = 2; return x * two }\n"
      "cell c(H) {\n input x[H]\n param b[H]\n two = b\n fn biased(v) = v + two\n output y = twice(biased(x))\n}";
  Cell cell = build(text, {{{"H", 2}}, {}});
  CHECK(print(cell).find("b") != std::string::npos);
  verify(cell);
  CHECK(thrown("fn f(v) = v + x\ncell c(H) {\n input x[H]\n output y = f(x)\n}", {{{"H", 2}}, {}})
            .find("`x` is not defined") != std::string::npos);
}

TEST_CASE("gradients of one's own are summed to the shape of their argument") {
  Cell cell = build("fn f(v, s) = v > s grad g, -g * v\ncell c(H) {\n input x[H]\n param s\n output y = f(x, s)\n}",
                    {{{"H", 3}}, {}});
  verify(cell);
  const Node& node = output(cell);
  REQUIRE(node.op == Op::WithGrad);
  REQUIRE(node.operands.size() == 5);
  CHECK(cell.graph[node.operands[3]].shape.str() == "[H]");
  CHECK(cell.graph[node.operands[4]].shape.str() == "[]");
}

TEST_CASE("values carry the user's names and places") {
  Cell cell = build("cell c(H) {\n  input x[H]\n  state h[H]\n  gate = sigmoid(x + h)\n  h' = gate * x\n  output h'\n}",
                    {{{"H", 3}}, {}});
  bool found = false;
  for (NodeId id = 0; id < cell.graph.size(); ++id) {
    if (cell.graph.name(id) != "gate") continue;
    found = true;
    const Span span = cell.graph.span(id);
    REQUIRE(span);
    CHECK(span.source->position(span.begin).line == 4);
  }
  CHECK(found);
  CHECK(cell.outputs[0].name == "h");
  CHECK(cell.graph.name(cell.states[0].next) == "h'");
}

TEST_CASE("each call that draws has a site of its own; what is computed twice draws once") {
  const Cell cell = body("a = dropout(x, 0.5)\n output y = a + a + dropout(x, 0.5)");
  int draws = 0;
  for (NodeId id = 0; id < cell.graph.size(); ++id) draws += cell.graph[id].op == Op::Random ? 1 : 0;
  CHECK(draws == 2);
}

TEST_CASE("what is asked of a cell before it is built") {
  const ParsedFile file("x.cell",
                        "cell a(I, H, N = 2; eps = 1e-3, k = 2/4) {\n input x[I], s\n state h[4*H]\n param W[4*H, I]\n"
                        " buffer B[N]\n h' = 0\n}\ncell b() { input x\n output y = x\n}");
  CHECK(file.cell_names() == std::vector<std::string>{"a", "b"});
  const CellInfo info = file.info("a");
  REQUIRE(info.dims.size() == 3);
  CHECK(!info.dims[0].default_value);
  CHECK(info.dims[2].default_value == 2);
  REQUIRE(info.constants.size() == 2);
  CHECK(info.constants[0].default_value == 1e-3);
  CHECK(info.constants[1].default_value == 0.5);
  CHECK(info.inputs.size() == 2);
  CHECK(info.params[0].name == "W");
  CHECK(info.params[0].shape[0] == 4 * Dim::symbol("H"));
  CHECK(info.params[1].name == "B");
  CHECK(info.states[0].shape.size() == 1);
  CHECK_THROWS_WITH_AS(file.info(), "error: this file has several cells, name one of them\nhint: it has `a`, `b`\n",
                       CompileError);
  CHECK_THROWS_WITH_AS(file.info("c"), "error: there is no cell `c` in this file\nhint: it has `a`, `b`\n",
                       CompileError);

  const Binding binding = file.read_binding("a", {"I=3", "eps=0.25"});
  CHECK(binding.dims.at("I") == 3);
  CHECK(binding.constants.at("eps") == 0.25);
  CHECK_THROWS_WITH_AS(file.read_binding("a", {"epss=1"}),
                       "error: the cell `a` has no dimension or constant `epss`\nhint: did you mean `eps`?\n",
                       CompileError);
  CHECK_THROWS_WITH_AS(file.read_binding("a", {"I=0x10"}),
                       "error: the dimension `I` cannot be `0x10`\nhint: a dimension is a whole number\n",
                       CompileError);
  CHECK_THROWS_WITH_AS(file.read_binding("a", {"I"}), "error: `I` gives no value\nhint: write `NAME=VALUE`\n",
                       CompileError);
}

TEST_CASE("bindings that do not fit the cell") {
  const std::string text = "cell c(I, H; k = 1) { input x[I], y[H]; output z = x[0] * k + y[0]; }";
  CHECK(thrown(text, {}) ==
        "x.cell:1:6: error: the dimensions `I`, `H` of `c` have no value\n"
        "  cell c(I, H; k = 1) { input x[I], y[H]; output z = x[0] * k + y[0]; }\n"
        "       ^\n"
        "hint: give a value to each: -D I=... -D H=...\n");
  CHECK(thrown(text, {{{"I", 1}, {"H", 0}}, {}}).find("the dimension `H` is 0") != std::string::npos);
  CHECK(thrown(text, {{{"I", 1}, {"H", 1}, {"h", 1}}, {}}).find("`c` has no dimension `h`") != std::string::npos);
  CHECK(thrown(text, {{{"I", 1}, {"H", 1}}, {{"q", 1}}}).find("`c` has no constant `q`\n") != std::string::npos);
  CHECK(thrown(text, {{{"I", 1}, {"H", std::int64_t{1} << 40}}, {}}).find("a dimension is from 1 to 2^31") !=
        std::string::npos);
  CHECK(build(text, {{{"I", 1}, {"H", 1}}, {{"k", 3}}}).dims.at("I") == 1);
}

TEST_CASE("a broken text is checked and refused, never built") {
  const ParsedFile file("x.cell", "cell c(H) {\n input x[H]\n output y = x +\n}");
  CHECK(file.check().size() == 1);
  CHECK_THROWS_AS(file.build("", {{{"H", 1}}, {}}), CompileError);
  CHECK_THROWS_AS(ParsedFile("x.cell", "").build("", {}), CompileError);
  CHECK_THROWS_WITH_AS(read_cell_file("/no/such.cell"),
                       "error: cannot read `/no/such.cell`: No such file or directory\n", CompileError);
  CHECK_THROWS_AS(read_cell_file("/"), CompileError);
}

TEST_CASE("the reference names every function") {
  const std::string reference = read(kRoot / "frontend/language/LANGUAGE.md");
  for (const ElementwiseInfo& info : elementwise_ops()) {
    if (info.spelling.starts_with('.')) continue;
    CAPTURE(info.spelling);
    CHECK(reference.find("`" + std::string(info.spelling) + "(" + std::string(info.arguments) + ")`") !=
          std::string::npos);
  }
  for (const FunctionInfo& info : language_functions()) {
    CAPTURE(info.name);
    CHECK(reference.find("`" + std::string(info.name) + "(" + std::string(info.parameters) + ")`") !=
          std::string::npos);
  }
}
