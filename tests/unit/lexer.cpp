#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "frontend/language/token.h"

using namespace cellfuse;

namespace {

struct Read {
  std::vector<std::string> tokens;
  std::vector<Diagnostic> diagnostics;
};

Read read(const std::string& text) {
  const auto source = std::make_shared<const Source>("x.cell", text);
  Reporter reporter;
  Read result;
  for (const Token& token : tokenize(source, reporter)) {
    if (token.kind != TokenKind::EndOfFile) result.tokens.push_back(text.substr(token.begin, token.end - token.begin));
  }
  result.diagnostics = reporter.take();
  return result;
}

std::vector<std::string> tokens(const std::string& text) {
  Read result = read(text);
  CHECK(render(result.diagnostics) == "");
  return result.tokens;
}

std::string messages(const std::string& text) { return render(read(text).diagnostics); }

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("names, primes and symbols") {
  CHECK(tokens("h' = a_1@B") == Strings{"h'", "=", "a_1", "@", "B"});
  CHECK(tokens("a<=b>=c==d!=e<f>g") == Strings{"a", "<=", "b", ">=", "c", "==", "d", "!=", "e", "<", "f", ">", "g"});
  CHECK(tokens("(x[:,None]);{}") == Strings{"(", "x", "[", ":", ",", "None", "]", ")", ";", "{", "}"});
}

TEST_CASE("numbers and ranges") {
  CHECK(tokens("0..6") == Strings{"0", "..", "6"});
  CHECK(tokens("0..N") == Strings{"0", "..", "N"});
  CHECK(tokens("1e-6 .5 2. 1.5E+3 1e5") == Strings{"1e-6", ".5", "2.", "1.5E+3", "1e5"});
  CHECK(tokens("1-2") == Strings{"1", "-", "2"});
}

TEST_CASE("blanks: comments in UTF-8, CRLF, a byte order mark at the start") {
  CHECK(tokens("\xEF\xBB\xBF# \xC3\xA9t\xC3\xA9 \xF0\x9F\x98\x80\r\na\t=\r\n b # c") == Strings{"a", "=", "b"});
  CHECK(tokens("# no line end") == Strings{});
  CHECK(tokens("") == Strings{});
}

TEST_CASE("lines are marked by their first token") {
  const auto source = std::make_shared<const Source>("x.cell", "a b\n\n  # c\nd");
  Reporter reporter;
  const std::vector<Token> list = tokenize(source, reporter);
  REQUIRE(list.size() == 4);
  CHECK(list[0].first_on_line);
  CHECK(!list[1].first_on_line);
  CHECK(list[2].first_on_line);
}

TEST_CASE("text that is no text") {
  CHECK(messages(std::string("a\0b", 3)) ==
        "x.cell:1:2: error: the file holds a NUL byte\n"
        "  a<00>b\n"
        "   ^~~~\n"
        "hint: a cell is plain text in UTF-8\n");
  CHECK(messages("\xFF\xFE\x61") ==
        "x.cell:1:1: error: the file is in UTF-16\n"
        "  <FF><FE>a\n"
        "  ^~~~~~~~\n"
        "hint: save it as UTF-8\n");
  CHECK(messages("a = \xED\xA0\x80 b") ==
        "x.cell:1:5: error: a lone surrogate is not valid UTF-8\n"
        "  a = <ED><A0><80> b\n"
        "      ^~~~~~~~~~~~\n"
        "hint: a cell is plain text in UTF-8\n");
  CHECK(messages("# caf\xE9 au lait\na") ==
        "x.cell:1:6: error: not valid UTF-8\n"
        "  # caf<E9> au lait\n"
        "       ^~~~\n"
        "hint: a cell is plain text in UTF-8\n");
  CHECK(messages("a \xEF\xBB\xBF b") ==
        "x.cell:1:3: error: a byte order mark inside the file\n"
        "  a \xEF\xBB\xBF b\n"
        "    ^\n"
        "hint: only plain spaces and tabs are blank\n");
  CHECK(messages("a\rb") ==
        "x.cell:1:2: error: a carriage return without a line feed\n"
        "  a<0D>b\n"
        "   ^~~~\n"
        "hint: lines end with \\n or \\r\\n\n");
  CHECK(messages("a \x01 b") ==
        "x.cell:1:3: error: a control character\n"
        "  a <01> b\n"
        "    ^~~~\n");
}

TEST_CASE("symbols of other languages get their counterpart") {
  CHECK(messages("a ** b") ==
        "x.cell:1:3: error: `**` is not part of the language\n"
        "  a ** b\n"
        "    ^~\n"
        "hint: a power is written `a ^ b`\n");
  CHECK(messages("a \xC3\x97 b") ==
        "x.cell:1:3: error: `\xC3\x97` is not part of the language\n"
        "  a \xC3\x97 b\n"
        "    ^\n"
        "hint: write `*`\n");
  CHECK(messages("a $ b") ==
        "x.cell:1:3: error: `$` is not part of the language\n"
        "  a $ b\n"
        "    ^\n");
  CHECK(messages("s\xCE\xB1 = 1") ==
        "x.cell:1:1: error: `s\xCE\xB1` is not a name\n"
        "  s\xCE\xB1 = 1\n"
        "  ^~\n"
        "hint: names are made of ASCII letters, digits and `_`\n");
  CHECK(messages("h '") ==
        "x.cell:1:3: error: `'` is not part of the language\n"
        "  h '\n"
        "    ^\n"
        "hint: `'` stands right behind the name of a state: `h'`\n");
}

TEST_CASE("a text of nothing but mistakes gives a bounded number of them") {
  CHECK(read(std::string(100000, '$')).diagnostics.size() == Reporter::kMaxErrors + 1);
}
