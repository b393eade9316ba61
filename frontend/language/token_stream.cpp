#include "frontend/language/token_stream.h"

#include <algorithm>
#include <utility>

namespace cellfuse {

bool TokenStream::more() const {
  const Token& next = tokens_[at_];
  if (next.kind == TokenKind::EndOfFile) return false;
  if (depth_ > 0) return true;
  return next.kind != TokenKind::Semicolon && (at_ == statement_ || !next.first_on_line);
}

TokenKind TokenStream::second_kind() const {
  if (!more() || at_ + 1 >= tokens_.size() || tokens_[at_ + 1].first_on_line) return TokenKind::EndOfFile;
  return tokens_[at_ + 1].kind;
}

std::string_view TokenStream::text(const Token& token) const {
  return std::string_view(source_->text()).substr(token.begin, token.end - token.begin);
}

Span TokenStream::span_since(const Span& begin) const {
  const std::uint32_t end = at_ > 0 ? tokens_[at_ - 1].end : begin.end;
  return {source_, begin.begin, std::max(begin.end, end)};
}

bool TokenStream::accept(TokenKind kind) {
  if (this->kind() != kind) return false;
  take();
  return true;
}

bool TokenStream::accept_on_any_line(TokenKind kind) {
  if (raw_kind() != kind) return false;
  take();
  return true;
}

Token TokenStream::expect(TokenKind kind, const std::string& hint) {
  if (this->kind() != kind) fail("expected " + describe(kind), hint);
  return take();
}

Span TokenStream::open(TokenKind kind) {
  const Token token = expect(kind);
  ++depth_;
  return span(token);
}

void TokenStream::close(TokenKind kind, const Span& opened) {
  if (this->kind() != kind) {
    std::vector<Diagnostic> notes;
    if (tokens_[at_].first_on_line || raw_kind() == TokenKind::EndOfFile) {
      notes.push_back(note(opened, "to match this " + std::string(kind == TokenKind::RightParen ? "`(`" : "`[`")));
    }
    fail("expected " + describe(kind), {}, std::move(notes));
  }
  take();
  --depth_;
}

std::string TokenStream::describe_next() const {
  const Token& next = tokens_[at_];
  if (next.kind == TokenKind::EndOfFile) return "the end of the file";
  if (next.first_on_line && at_ != statement_) return "the end of the line";
  std::string shown(text(next).substr(0, 40));
  return "`" + shown + "`";
}

Span TokenStream::place_of_missing() const {
  const Token& next = tokens_[at_];
  if (at_ == 0 || (next.kind != TokenKind::EndOfFile && (!next.first_on_line || at_ == statement_))) return span(next);
  const std::uint32_t end = tokens_[at_ - 1].end;
  return {source_, end, end};
}

void TokenStream::fail(const std::string& what, const std::string& hint, std::vector<Diagnostic> notes) {
  // What the lexer has reported needs no second message.
  if (raw_kind() != TokenKind::Invalid) {
    reporter_.error(place_of_missing(), what + ", found " + describe_next(), hint, std::move(notes));
  }
  throw SyntaxError{};
}

void TokenStream::recover() {
  // Brackets that close again are skipped with what is in them, even over several lines.
  const std::size_t failed = at_;
  at_ = end_of_brackets(failed).value_or(failed);
  depth_ = 0;
  while (raw_kind() != TokenKind::EndOfFile && raw_kind() != TokenKind::RightBrace) {
    if (at_ != statement_ && (tokens_[at_].first_on_line || raw_kind() == TokenKind::Semicolon)) return;
    if (raw_kind() == TokenKind::LeftBrace) skip_block();
    take();
  }
}

std::optional<std::size_t> TokenStream::end_of_brackets(std::size_t from) const {
  int depth = 0;
  for (std::size_t i = statement_; i < tokens_.size(); ++i) {
    if (i >= from && depth <= 0) return i;
    switch (tokens_[i].kind) {
      case TokenKind::LeftParen:
      case TokenKind::LeftBracket: ++depth; break;
      case TokenKind::RightParen:
      case TokenKind::RightBracket: --depth; break;
      case TokenKind::LeftBrace:
      case TokenKind::RightBrace:
        if (i >= from) return std::nullopt;  // brackets do not go past a block: one was left open
        break;
      default: break;
    }
  }
  return std::nullopt;
}

void TokenStream::skip_block() {
  for (int depth = 0; raw_kind() != TokenKind::EndOfFile; take()) {
    if (raw_kind() == TokenKind::LeftBrace) ++depth;
    if (raw_kind() == TokenKind::RightBrace && --depth == 0) return;
  }
}

void TokenStream::recover_to_definition() {
  while (raw_kind() != TokenKind::EndOfFile) {
    take();
    if (!tokens_[at_].first_on_line) continue;
    if (raw_kind() == TokenKind::Fn || (raw_kind() == TokenKind::Name && text() == "cell")) return;
  }
}

}  // namespace cellfuse
