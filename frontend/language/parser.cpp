#include "frontend/language/parser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "frontend/language/expression_parser.h"
#include "frontend/language/token_stream.h"

namespace cellfuse {

namespace {

using namespace ast;

enum class Place : std::uint8_t { Cell, Function };

std::optional<Role> role_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Role>, 4> kRoles{
      {{"input", Role::Input}, {"state", Role::State}, {"param", Role::Param}, {"buffer", Role::Buffer}}};
  for (const auto& [name, role] : kRoles) {
    if (name == word) return role;
  }
  return std::nullopt;
}

ExpressionPtr unreadable(const Span& span) { return std::make_shared<Expression>(Expression{span, Unreadable{}}); }

class Parser {
 public:
  Parser(const std::shared_ptr<const Source>& source, Reporter& reporter)
      : tokens_(source, reporter), reporter_(reporter), expressions_(tokens_) {}

  File run() {
    try {
      read_file();
    } catch (const TooMuch&) {
      file_.functions_incomplete = true;
    }
    return std::move(file_);
  }

 private:
  struct TooMuch {};

  void read_file() {
    while (tokens_.raw_kind() != TokenKind::EndOfFile && !reporter_.full()) {
      tokens_.begin_statement();
      try {
        read_definition();
      } catch (const SyntaxError&) {
        file_.functions_incomplete = true;
        if (!file_.cells.empty()) file_.cells.back().incomplete = true;
        tokens_.recover_to_definition();
      }
    }
  }

  void read_definition() {
    if (tokens_.accept(TokenKind::Semicolon)) return;
    if (file_.cells.size() >= kMaxDefinitions || file_.functions.size() >= kMaxDefinitions) {
      reporter_.error(tokens_.span(),
                      "more than " + std::to_string(kMaxDefinitions) + " cells or functions in one text");
      throw TooMuch{};
    }
    if (tokens_.kind() == TokenKind::Fn) {
      file_.functions.push_back(read_function());
      return end_statement();
    }
    if (!tokens_.at_word("cell")) {
      tokens_.fail("expected `cell` or `fn`", "a file holds cells, `cell NAME(I, H) { ... }`, and functions");
    }
    tokens_.take();
    read_cell();
  }

  Identifier read_name(const std::string& what) {
    if (tokens_.kind() != TokenKind::Name) {
      const bool keyword = tokens_.kind() >= TokenKind::Fn;
      tokens_.fail("expected " + what, keyword ? "`" + std::string(tokens_.text()) + "` cannot be a name" : "");
    }
    Span span = tokens_.span();
    std::string name(tokens_.text());
    tokens_.take();
    return {std::move(name), std::move(span)};
  }

  void read_cell() {
    Cell& cell = file_.cells.emplace_back();
    cell.name = read_name("the name of the cell");
    const Span opened = tokens_.open(TokenKind::LeftParen);
    if (tokens_.kind() != TokenKind::Semicolon && tokens_.kind() != TokenKind::RightParen) {
      do read_dim(cell);
      while (tokens_.accept(TokenKind::Comma));
    }
    if (tokens_.accept(TokenKind::Semicolon) && tokens_.kind() != TokenKind::RightParen) {
      do read_constant(cell);
      while (tokens_.accept(TokenKind::Comma));
    }
    tokens_.close(TokenKind::RightParen, opened);
    const Span brace = open_block();
    while (read_item(cell, brace)) {
    }
  }

  void read_dim(Cell& cell) {
    Setting dim{read_name("the name of a dimension"), nullptr};
    if (tokens_.accept(TokenKind::Equal)) dim.value = expressions_.read();
    cell.dims.push_back(std::move(dim));
  }

  void read_constant(Cell& cell) {
    Setting constant{read_name("the name of a constant"), nullptr};
    if (tokens_.kind() != TokenKind::Equal) {
      tokens_.fail("expected `=`", "a constant needs a default: `" + constant.name.name + " = 0.1`");
    }
    tokens_.take();
    constant.value = expressions_.read();
    cell.constants.push_back(std::move(constant));
  }

  Span open_block() {
    const Span span = tokens_.span();
    if (!tokens_.accept_on_any_line(TokenKind::LeftBrace)) tokens_.fail("expected `{`");
    return span;
  }

  /// True when the block goes on; reads its `}`.
  bool in_block(const Span& brace) {
    tokens_.begin_statement();
    while (tokens_.raw_kind() == TokenKind::Semicolon) {
      tokens_.take();
      tokens_.begin_statement();
    }
    const bool next_cell = tokens_.at_word("cell") && tokens_.second_kind() == TokenKind::Name;
    if (tokens_.raw_kind() == TokenKind::EndOfFile || next_cell || reporter_.full()) {
      if (!reporter_.full()) {
        reporter_.error(brace, "this `{` is not closed", "", {note(tokens_.span(), "`}` is expected before this")});
      }
      return false;
    }
    return !tokens_.accept(TokenKind::RightBrace);
  }

  void end_statement() {
    if (tokens_.more() && tokens_.kind() != TokenKind::RightBrace) {
      tokens_.fail("expected the end of the statement");
    }
  }

  /// One declaration, function or statement of a cell. False at its end.
  bool read_item(Cell& cell, const Span& brace) {
    if (!in_block(brace)) return false;
    const bool function = tokens_.kind() == TokenKind::Fn;
    try {
      const std::optional<Role> role = tokens_.kind() == TokenKind::Name ? role_of(tokens_.text()) : std::nullopt;
      if (role && tokens_.second_kind() == TokenKind::Name) {
        tokens_.take();
        do read_declaration(cell, *role);
        while (tokens_.accept(TokenKind::Comma));
        end_statement();
      } else if (function) {
        cell.functions.push_back(read_function());
        end_statement();
      } else {
        read_statement(cell.statements, Place::Cell, false);
      }
    } catch (const SyntaxError&) {
      cell.incomplete = cell.incomplete || !function;
      file_.functions_incomplete = file_.functions_incomplete || function;
      tokens_.recover();
    }
    return true;
  }

  void read_declaration(Cell& cell, Role role) {
    Declaration declaration;
    declaration.role = role;
    declaration.name = read_name("a name");
    try {
      if (tokens_.kind() == TokenKind::LeftBracket) {
        const Span opened = tokens_.open(TokenKind::LeftBracket);
        do declaration.extents.push_back(expressions_.read());
        while (tokens_.accept(TokenKind::Comma));
        tokens_.close(TokenKind::RightBracket, opened);
      }
      declaration.span = tokens_.span_since(declaration.name.span);
      if (tokens_.kind() == TokenKind::Equal) {
        if (role != Role::State) tokens_.fail("expected `,` or the end of the line", "only a state has a start");
        tokens_.take();
        declaration.start = expressions_.read();
      }
    } catch (const SyntaxError&) {
      declaration.extents.assign(1, unreadable(declaration.name.span));
      cell.declarations.push_back(std::move(declaration));
      throw;
    }
    cell.declarations.push_back(std::move(declaration));
  }

  void read_statement(std::vector<Statement>& statements, Place place, bool in_loop) {
    const Span begin = tokens_.span();
    if (tokens_.kind() == TokenKind::For) return read_loop(statements, place);
    if (tokens_.at_word("output") &&
        (tokens_.second_kind() == TokenKind::Name || tokens_.second_kind() == TokenKind::PrimedName)) {
      if (place == Place::Function) tokens_.fail("expected a statement of a function", "a function has no outputs");
      refuse(in_loop, "an output belongs outside of loops");
      tokens_.take();
      statements.push_back({begin, read_output()});
    } else if (tokens_.kind() == TokenKind::PrimedName) {
      if (place == Place::Function) tokens_.fail("expected a statement of a function", "a function cannot set a state");
      refuse(in_loop, "a state gets its next value once, outside of loops", "use another name in the loop");
      read_advance(statements);
    } else {
      read_assignment(statements, place);
    }
    end_statement();
    statements.back().span = tokens_.span_since(begin);
  }

  void refuse(bool wrong, const std::string& message, const std::string& hint = {}) {
    if (wrong) reporter_.error(tokens_.span(), message, hint);
  }

  Output read_output() {
    Output output;
    output.next = tokens_.kind() == TokenKind::PrimedName;
    output.name = read_primed_or_plain();
    if (tokens_.kind() == TokenKind::Equal) {
      if (output.next) {
        tokens_.fail("expected the end of the statement",
                     "write `" + output.name.name + "' = ...` first, then `output " + output.name.name + "'`");
      }
      tokens_.take();
      output.value = expressions_.read();
    }
    return output;
  }

  Identifier read_primed_or_plain() {
    std::string name(tokens_.text());
    const Span span = tokens_.span();
    if (name.ends_with('\'')) name.pop_back();
    tokens_.take();
    return {std::move(name), span};
  }

  /// Reads the value of a statement whose targets are known: when it cannot be read, they still get defined.
  template <typename Node>
  void read_value(std::vector<Statement>& statements, Node node, const Span& begin) {
    try {
      node.value = expressions_.read();
      end_statement();
    } catch (const SyntaxError&) {
      node.value = unreadable(begin);
      tokens_.recover();
    }
    statements.push_back({begin, std::move(node)});
  }

  void read_advance(std::vector<Statement>& statements) {
    const Span begin = tokens_.span();
    Advance advance{read_primed_or_plain(), nullptr};
    if (tokens_.kind() == TokenKind::Comma) {
      tokens_.fail("expected `=`", "take the parts of a `split` by plain names, then give each state its value");
    }
    tokens_.expect(TokenKind::Equal);
    read_value(statements, std::move(advance), begin);
  }

  void read_assignment(std::vector<Statement>& statements, Place place) {
    const Span begin = tokens_.span();
    if (tokens_.kind() == TokenKind::Return && place == Place::Cell) {
      tokens_.fail("expected a statement", "a cell gives its values with `output`");
    }
    Assign assign;
    if (tokens_.kind() != TokenKind::Name) tokens_.fail("expected a statement");
    do assign.targets.push_back(read_name("a name"));
    while (tokens_.accept(TokenKind::Comma));
    const bool one_name = assign.targets.size() == 1;
    if (tokens_.kind() != TokenKind::Equal) {
      tokens_.fail(one_name ? "expected `=`" : "expected `=` or `,`", hint_for(assign.targets.front().name));
    }
    tokens_.take();
    read_value(statements, std::move(assign), begin);
  }

  static std::string hint_for(const std::string& word) {
    if (word == "let" || word == "var" || word == "const" || word == "auto")
      return "a value is defined by `name = ...`";
    if (word == "def" || word == "function" || word == "func") return "a function is defined by `fn NAME(a) = ...`";
    if (word == "if" || word == "while") return "a choice is written `where(condition, a, b)`";
    return closest_name(word, {"input", "state", "param", "buffer", "output", "return"}) == ""
               ? ""
               : did_you_mean(word, {"input", "state", "param", "buffer", "output", "return"});
  }

  void read_loop(std::vector<Statement>& statements, Place place) {
    const NestingGuard guard(tokens_, nesting_);
    const Span begin = tokens_.span();
    tokens_.take();
    Loop loop;
    loop.variable = read_name("the name of the counter");
    if (!tokens_.at_word("in")) tokens_.fail("expected `in`", "a loop is written `for k in 0..6 { ... }`");
    tokens_.take();
    loop.begin = expressions_.read();
    tokens_.expect(TokenKind::DotDot, "a loop is written `for k in 0..6 { ... }`");
    loop.end = expressions_.read();
    const Span head = tokens_.span_since(begin);
    const Span brace = open_block();
    while (in_block(brace)) {
      try {
        read_statement(loop.body, place, true);
      } catch (const SyntaxError&) {
        mark_incomplete();
        tokens_.recover();
      }
    }
    statements.push_back({head, std::move(loop)});
    end_statement();
  }

  void mark_incomplete() {
    ++lost_statements_;
    if (!file_.cells.empty()) file_.cells.back().incomplete = true;
  }

  Function read_function() {
    tokens_.take();
    Function function;
    function.name = read_name("the name of the function");
    const Span opened = tokens_.open(TokenKind::LeftParen);
    if (tokens_.kind() != TokenKind::RightParen) {
      do function.parameters.push_back(read_name("the name of an argument"));
      while (tokens_.accept(TokenKind::Comma));
    }
    tokens_.close(TokenKind::RightParen, opened);
    function.result = unreadable(function.name.span);
    if (tokens_.accept(TokenKind::Equal)) {
      read_result(function);
    } else if (tokens_.raw_kind() == TokenKind::LeftBrace) {
      read_function_body(function);
    } else {
      tokens_.fail("expected `=` or `{`",
                   "a function is written `fn NAME(a) = ...` or `fn NAME(a) { ... return ... }`");
    }
    return function;
  }

  void read_result(Function& function) {
    try {
      function.result = expressions_.read();
      if (!tokens_.at_word("grad")) return end_statement();
      function.gradient_span = tokens_.span();
      tokens_.take();
      function.has_gradient = true;
      do function.gradients.push_back(expressions_.read());
      while (tokens_.accept(TokenKind::Comma));
      end_statement();
    } catch (const SyntaxError&) {
      function.result = unreadable(function.name.span);
      tokens_.recover();
    }
  }

  void read_function_body(Function& function) {
    const Span brace = open_block();
    const int lost_before = lost_statements_;
    bool returned = false;
    while (in_block(brace)) {
      if (returned) reporter_.error(tokens_.span(), "nothing may follow `return`");
      try {
        if (tokens_.kind() == TokenKind::Return) {
          tokens_.take();
          read_result(function);
          returned = true;
        } else {
          read_statement(function.body, Place::Function, false);
        }
      } catch (const SyntaxError&) {
        mark_incomplete();
        tokens_.recover();
      }
    }
    if (lost_statements_ > lost_before) {
      // Names may be missing: nothing can be said about what is left.
      function.body.clear();
      function.result = unreadable(function.name.span);
      function.gradients.clear();
      function.has_gradient = false;
    } else if (!returned) {
      reporter_.error(function.name.span, "the function `" + function.name.name + "` returns nothing",
                      "end its body with `return ...`");
    }
  }

  TokenStream tokens_;
  Reporter& reporter_;
  ExpressionParser expressions_;
  int nesting_ = 0;
  int lost_statements_ = 0;
  File file_;
};

}  // namespace

File parse(const std::shared_ptr<const Source>& source, Reporter& reporter) {
  if (source->text().size() > kMaxSourceBytes) {
    reporter.error({source, 0, 0}, "the file is larger than 1 MB");
    return {{}, {}, true};
  }
  File file = Parser(source, reporter).run();
  return file;
}

}  // namespace cellfuse
