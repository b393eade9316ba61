#include "ir/diagnostic.h"

#include <memory>

#include <doctest/doctest.h>

using namespace cellfuse;

namespace {

Span span(const std::string& text, const std::string& part) {
  const auto begin = static_cast<std::uint32_t>(text.find(part));
  return {std::make_shared<const Source>("a.cell", text), begin, begin + static_cast<std::uint32_t>(part.size())};
}

std::string error(const std::string& text, const std::string& part) {
  return render(Diagnostic{Severity::Error, "wrong", span(text, part), {}, {}});
}

}  // namespace

TEST_CASE("the line and a mark under the place") {
  CHECK(error("one\ntwo three\nfour", "three") == "a.cell:2:5: error: wrong\n  two three\n      ^~~~~\n");
  CHECK(error("a\r\nbcd\r\n", "cd") == "a.cell:2:2: error: wrong\n  bcd\n   ^~\n");
  CHECK(error("\tx\ty", "y") == "a.cell:1:4: error: wrong\n      x   y\n          ^\n");
  CHECK(error("h\xC3\xA9 x", "x") == "a.cell:1:4: error: wrong\n  h\xC3\xA9 x\n     ^\n");
  // A mark stays within its line.
  CHECK(error("f(a,\nb)", "f(a,\nb)") == "a.cell:1:1: error: wrong\n  f(a,\n  ^~~~\n");
}

TEST_CASE("a long line is cut around the place") {
  const std::string text = std::string(300, 'a') + "!" + std::string(300, 'b');
  const std::string shown = error(text, "!");
  CHECK(shown.find("...aaa") != std::string::npos);
  CHECK(shown.find("bbb...") != std::string::npos);
  CHECK(shown.size() < 400);
  const std::size_t line = shown.find("  ...");
  const std::size_t marks = shown.find('\n', line) + 1;
  CHECK(shown[line + (shown.find('^', marks) - marks)] == '!');
}

TEST_CASE("hint and notes follow; without a place there is only the message") {
  Diagnostic diagnostic{Severity::Warning, "odd", {}, "do this", {}};
  diagnostic.notes.push_back({Severity::Note, "see", span("x = y", "y"), {}, {}});
  CHECK(render(diagnostic) == "warning: odd\nhint: do this\na.cell:1:5: note: see\n  x = y\n      ^\n");
  CHECK(render(diagnostic, true).find("\x1b[") != std::string::npos);
}

TEST_CASE("nothing from the text reaches the terminal as a control sequence") {
  CHECK(error("a\x1b[31mb", "b").find('\x1b') == std::string::npos);
  const Diagnostic diagnostic{Severity::Error, "a\x1b[2Jb", {}, {}, {}};
  CHECK(render(diagnostic) == "error: a<1B>[2Jb\n");
}

TEST_CASE("errors carry their text") {
  const CompileError compile("no", "yes");
  CHECK(std::string(compile.what()) == "error: no\nhint: yes\n");
  const InternalError internal("pass", "broke");
  CHECK(std::string(internal.what()) == "internal error in pass: broke");
  CHECK(internal.where() == "pass");
}
