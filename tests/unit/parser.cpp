#include "frontend/language/parser.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>

using namespace cellfuse;

namespace {

std::string print(const ast::ExpressionPtr& expression);

std::string print_node(const ast::Unreadable&) { return "?"; }
std::string print_node(const ast::Number& number) {
  std::string text = std::to_string(number.value);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}
std::string print_node(const ast::Name& name) { return name.name + (name.next ? "'" : ""); }
std::string print_node(const ast::Unary& unary) {
  return "(" + std::string(name(unary.op)) + " " + print(unary.operand) + ")";
}
std::string print_node(const ast::Chain& chain) {
  std::string text = print(chain.first);
  for (const ast::Link& link : chain.rest) {
    text = "(" + text;
    text += " " + std::string(name(link.op)) + " " + print(link.operand) + ")";
  }
  return text;
}
std::string print_node(const ast::Call& call) {
  std::string text = call.function.name + "(";
  for (const ast::Argument& argument : call.arguments) {
    if (text.back() != '(') text += ", ";
    if (!argument.keyword.name.empty()) text += argument.keyword.name + "=";
    text += print(argument.value);
  }
  return text + ")";
}
std::string print_node(const ast::Index& index) {
  std::string text = print(index.base) + "[";
  for (const ast::Subscript& subscript : index.subscripts) {
    if (text.back() != '[') text += ", ";
    if (subscript.kind == ast::Subscript::Kind::NewAxis) text += "None";
    if (subscript.begin) text += print(subscript.begin);
    if (subscript.kind == ast::Subscript::Kind::Range) text += ":";
    if (subscript.end) text += print(subscript.end);
  }
  return text + "]";
}
std::string print(const ast::ExpressionPtr& expression) {
  return std::visit([](const auto& node) { return print_node(node); }, expression->node);
}

struct Parsed {
  ast::File file;
  std::vector<Diagnostic> diagnostics;
};

Parsed read(const std::string& text) {
  Reporter reporter;
  Parsed parsed;
  parsed.file = parse(std::make_shared<const Source>("x.cell", text), reporter);
  parsed.diagnostics = reporter.take();
  return parsed;
}

/// The expression as its tree, fully parenthesised.
std::string tree(const std::string& text) {
  const Parsed parsed = read("cell c() { y = " + text + "\n}");
  CHECK(render(parsed.diagnostics) == "");
  REQUIRE(parsed.file.cells.size() == 1);
  REQUIRE(parsed.file.cells[0].statements.size() == 1);
  return print(std::get<ast::Assign>(parsed.file.cells[0].statements[0].node).value);
}

/// The diagnostics of a text.
std::string errors(const std::string& text) { return render(read(text).diagnostics); }

/// The message and the hint alone, of the first error in an expression.
std::string expression_error(const std::string& text) {
  const Parsed parsed = read("cell c() { y = " + text + "\n}");
  REQUIRE(!parsed.diagnostics.empty());
  return parsed.diagnostics[0].message + "|" + parsed.diagnostics[0].hint;
}

}  // namespace

TEST_CASE("precedence is Python's") {
  CHECK(tree("a + b * c") == "(a add (b mul c))");
  CHECK(tree("a - b - c") == "((a sub b) sub c)");
  CHECK(tree("g * W @ x") == "((g mul W) matmul x)");
  CHECK(tree("-a ^ 2") == "(neg (a pow 2))");
  CHECK(tree("a ^ -b ^ c") == "(a pow (neg (b pow c)))");
  CHECK(tree("2 * -a") == "(2 mul (neg a))");
  CHECK(tree("- - a") == "(neg (neg a))");
  CHECK(tree("+a") == "a");
  CHECK(tree("a or b and not c == d + 1") == "(a or (b and (not (c eq (d add 1)))))");
  CHECK(tree("a < b + 1") == "(a lt (b add 1))");
  CHECK(tree("(a + b) * c") == "((a add b) mul c)");
}

TEST_CASE("calls and subscripts") {
  CHECK(tree("sum(x, axis=0)") == "sum(x, axis=0)");
  CHECK(tree("f()") == "f()");
  CHECK(tree("f(a, b,)") == "f(a, b)");
  CHECK(tree("x[0:H]") == "x[0:H]");
  CHECK(tree("x[H:]") == "x[H:]");
  CHECK(tree("x[:, None]") == "x[:, None]");
  CHECK(tree("x[None, :]") == "x[None, :]");
  CHECK(tree("A[:, 0:2]") == "A[:, 0:2]");
  CHECK(tree("exp(g)[:, None] * S") == "(exp(g)[:, None] mul S)");
  CHECK(tree("x[2][1]") == "x[2][1]");
  CHECK(tree("h'[1]") == "h'[1]");
}

TEST_CASE("a statement ends with its line, but not in brackets") {
  const Parsed parsed = read("cell c() {\n a = f(b,\n   c) + x[0\n :2]\n d = 1; e = 2\n for k in 0..2 { q = 1 }\n}\n");
  CHECK(render(parsed.diagnostics) == "");
  CHECK(parsed.file.cells[0].statements.size() == 4);
  CHECK(errors("cell c() {\n  a = b\n  - c\n}") ==
        "x.cell:3:3: error: expected a statement, found `-`\n"
        "    - c\n"
        "    ^\n");
}

TEST_CASE("heads, declarations and functions") {
  const Parsed parsed = read(
      "fn f(v) = v > 0 grad g / 2\n"
      "cell c(I, H, N = 2; a = 0.1, b = -1e-3) {\n"
      "  input x[I], m\n"
      "  state h[H] = h0, S[I, H]\n"
      "  param h0[H]\n"
      "  buffer A[H, H]\n"
      "  fn two(p, q) {\n"
      "    r = p\n"
      "    return r + q\n"
      "  }\n"
      "  h' = h\n"
      "  output h'\n"
      "  output y = x\n"
      "}\n");
  CHECK(render(parsed.diagnostics) == "");
  const ast::Cell& cell = parsed.file.cells.at(0);
  CHECK(cell.dims.size() == 3);
  CHECK(print(cell.dims[2].value) == "2");
  CHECK(cell.constants.size() == 2);
  CHECK(cell.declarations.size() == 6);
  CHECK(print(cell.declarations[2].start) == "h0");
  CHECK(cell.functions.size() == 1);
  CHECK(cell.functions[0].body.size() == 1);
  CHECK(parsed.file.functions[0].has_gradient);
  CHECK(parsed.file.functions[0].gradients.size() == 1);
}

TEST_CASE("words of declarations are names elsewhere") {
  const Parsed parsed = read(
      "cell c(H) {\n state cell[H], input[H]\n output = cell + input\n cell' = output\n"
      " input' = cell\n output output\n grad = 1\n in = grad\n}");
  CHECK(render(parsed.diagnostics) == "");
  CHECK(parsed.file.cells[0].declarations.size() == 2);
  CHECK(parsed.file.cells[0].statements.size() == 6);
  CHECK(errors("cell c() { for = 1\n}").find("expected the name of the counter") != std::string::npos);
}

TEST_CASE("what is missing is pointed at") {
  CHECK(errors("cell c(H) {\n  a = sigmoid(H\n  b = 1\n}") ==
        "x.cell:2:16: error: expected `)`, found the end of the line\n"
        "    a = sigmoid(H\n"
        "                 ^\n"
        "x.cell:2:14: note: to match this `(`\n"
        "    a = sigmoid(H\n"
        "               ^\n");
  CHECK(errors("cell c(H) {\n  a = H\n") ==
        "x.cell:1:11: error: this `{` is not closed\n"
        "  cell c(H) {\n"
        "            ^\n"
        "x.cell:3:1: note: `}` is expected before this\n");
  CHECK(errors("cell c(H) {\n  a = \n}") ==
        "x.cell:2:6: error: expected an expression, found the end of the line\n"
        "    a = \n"
        "       ^\n");
  CHECK(errors("cell c(H; a) {\n}") ==
        "x.cell:1:12: error: expected `=`, found `)`\n"
        "  cell c(H; a) {\n"
        "             ^\n"
        "hint: a constant needs a default: `a = 0.1`\n");
}

TEST_CASE("mistakes in expressions and their hints") {
  CHECK(expression_error("a < b < c") ==
        "comparisons do not chain: expected the end of the expression, found `<`|write `a < b and b < c`, or "
        "parentheses");
  CHECK(expression_error("None") ==
        "expected an expression, found `None`|`None` adds an axis between brackets: `x[:, None]`");
  CHECK(expression_error("[a, b]") == "expected an expression, found `[`|vectors are put together with `concat(a, b)`");
  CHECK(expression_error("(a, b)") == "expected `)`, found `,`|vectors are put together with `concat(a, b)`");
  CHECK(expression_error("a + not b") == "expected an operand, found `not`|`not` binds loosely: put it in parentheses");
  CHECK(expression_error("a b") == "expected the end of the statement, found `b`|");
  CHECK(expression_error("1e999") == "the number is out of the range of float64|");
}

TEST_CASE("mistakes in statements and their hints") {
  const auto error = [](const std::string& statement) {
    const Parsed parsed = read("cell c() {\n  " + statement + "\n}");
    REQUIRE(!parsed.diagnostics.empty());
    return parsed.diagnostics[0].message + "|" + parsed.diagnostics[0].hint;
  };
  CHECK(error("let a = 1") == "expected `=`, found `a`|a value is defined by `name = ...`");
  CHECK(error("if a > 0 {\n    b = 1\n  }") == "expected `=`, found `a`|a choice is written `where(condition, a, b)`");
  CHECK(error("inputs x[H]") == "expected `=`, found `x`|did you mean `input`?");
  CHECK(error("a == 1") == "expected `=`, found `==`|");
  CHECK(error("return 1") == "expected a statement, found `return`|a cell gives its values with `output`");
  CHECK(error("for k in 0 { a = 1 }") == "expected `..`, found `{`|a loop is written `for k in 0..6 { ... }`");
  CHECK(error("for k in 0..2 { h' = 1 }") ==
        "a state gets its next value once, outside of loops|use another name in the loop");
  CHECK(error("for k in 0..2 { output y = 1 }") == "an output belongs outside of loops|");
  CHECK(error("fn f(a) { b = a }") == "the function `f` returns nothing|end its body with `return ...`");
  CHECK(error("fn f(a) { h' = a; return a }") ==
        "expected a statement of a function, found `h'`|a function cannot set a state");
  CHECK(error("h', c' = split(x, 2)") ==
        "expected `=`, found `,`|take the parts of a `split` by plain names, then give each state its value");
  CHECK(error("param W[2] = 3") == "expected `,` or the end of the line, found `=`|only a state has a start");
  CHECK(error("output h' = 3") ==
        "expected the end of the statement, found `=`|write `h' = ...` first, then `output h'`");
}

TEST_CASE("several mistakes are found in one go, and what is right is kept") {
  const Parsed parsed = read(
      "cell a(H) {\n"
      "  x = (1\n"
      "  y = 2 +\n"
      "  z = 3\n"
      "}\n"
      "junk\n"
      "cell b(H) {\n"
      "  param W[H, U[2]\n"
      "  v = 4 $ 5\n"
      "}\n");
  CHECK(parsed.diagnostics.size() == 5);
  REQUIRE(parsed.file.cells.size() == 2);
  CHECK(parsed.file.cells[0].statements.size() == 3);
}

TEST_CASE("limits") {
  const auto nested = [](const std::string& open, const std::string& close, int count) {
    std::string text = "cell c() { y = ";
    for (int i = 0; i < count; ++i) text += open;
    text += "1";
    for (int i = 0; i < count; ++i) text += close;
    return errors(text + "\n}").substr(0, 60);
  };
  CHECK(nested("(", ")", 90) == "");
  CHECK(nested("(", ")", 100000).find("nested more than 100 deep") != std::string::npos);
  CHECK(nested("-", "", 100000).find("nested more than 100 deep") != std::string::npos);
  CHECK(nested("not ", "", 100000).find("nested more than 100 deep") != std::string::npos);
  CHECK(nested("2 ^ ", "", 100000).find("nested more than 100 deep") != std::string::npos);
  CHECK(nested("", "[0]", 100000).find("nested more than 100 deep") != std::string::npos);
  std::string loops = "cell c() {\n";
  for (int i = 0; i < 1000; ++i) loops += "for k in 0..1 {\n";
  CHECK(errors(loops).find("nested more than 100 deep") != std::string::npos);
  std::string sum = "cell c() { y = 1";
  for (int i = 0; i < 100000; ++i) sum += " + 1";
  CHECK(errors(sum + "\n}") == "");
  CHECK(errors(std::string(kMaxSourceBytes + 1, ' ')) == "x.cell:1:1: error: the file is larger than 1 MB\n");
}
