#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/language/reporter.h"
#include "frontend/language/token.h"

namespace cellfuse {

/// Thrown by the parser behind a reported error; caught where reading can go on.
struct SyntaxError {};

/// The tokens of a text, read statement by statement: outside of parentheses and brackets a statement ends with its
/// line.
class TokenStream {
 public:
  TokenStream(const std::shared_ptr<const Source>& source, Reporter& reporter)
      : source_(source), reporter_(reporter), tokens_(tokenize(source, reporter)) {}

  Reporter& reporter() { return reporter_; }

  /// The next token begins a statement: it may stand first on its line.
  void begin_statement() {
    statement_ = at_;
    depth_ = 0;
  }
  /// True while the next token belongs to the statement.
  bool more() const;
  /// Kind of the next token, EndOfFile where the statement ends.
  TokenKind kind() const { return more() ? tokens_[at_].kind : TokenKind::EndOfFile; }
  /// Kind of the next token on whatever line.
  TokenKind raw_kind() const { return tokens_[at_].kind; }
  /// Kind of the token after the next one, if that is on the same line; else EndOfFile.
  TokenKind second_kind() const;
  /// True when the token after the next one, on whatever line, is of this kind.
  bool followed_by(TokenKind kind) const { return at_ + 1 < tokens_.size() && tokens_[at_ + 1].kind == kind; }
  bool at_word(std::string_view word) const { return kind() == TokenKind::Name && text() == word; }

  /// Text of the next token.
  std::string_view text() const { return text(tokens_[at_]); }
  Span span() const { return span(tokens_[at_]); }
  /// From `begin` to the last token that was read.
  Span span_since(const Span& begin) const;

  /// Reads the next token, whatever it is.
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  /// Reads the next token if it is of this kind.
  bool accept(TokenKind kind);
  /// The same where the token may stand on a later line: the `{` of a block.
  bool accept_on_any_line(TokenKind kind);
  /// Reads a token of this kind; reports `expected …` and throws SyntaxError when there is none.
  Token expect(TokenKind kind, const std::string& hint = {});
  /// Reads `(` or `[`: lines do not end a statement until its `close` is read.
  Span open(TokenKind kind);
  /// Reads the closing counterpart of what `open` read; `opened` is shown when it is missing.
  void close(TokenKind kind, const Span& opened);

  /// Reports that `what` was expected where the stream stands, and throws SyntaxError.
  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}, std::vector<Diagnostic> notes = {});

  /// Skips to the end of the statement that began last: the end of its line, or of the lines its brackets span.
  void recover();
  /// Skips to the next line that starts with one of `cell` and `fn`, or to the end.
  void recover_to_definition();

  std::string_view text(const Token& token) const;
  Span span(const Token& token) const { return {source_, token.begin, token.end}; }

 private:
  /// The first token from `from` on that is outside of the brackets of the statement, if they close.
  std::optional<std::size_t> end_of_brackets(std::size_t from) const;
  /// From a `{` to its `}`.
  void skip_block();
  std::string describe_next() const;
  /// Where to point for something that is missing: the next token, or the end of the line it is missing from.
  Span place_of_missing() const;

  std::shared_ptr<const Source> source_;
  Reporter& reporter_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t statement_ = 0;
  int depth_ = 0;
};

}  // namespace cellfuse
