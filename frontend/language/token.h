#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/language/reporter.h"
#include "ir/source.h"

namespace cellfuse {

/// Kinds of tokens. Words such as `cell`, `input` and `grad` are names that the parser knows by their place; only the
/// words from Fn on cannot name a value.
enum class TokenKind : std::uint8_t {
  EndOfFile,
  Invalid,  ///< reported by the lexer
  Name,
  PrimedName,  ///< `h'`
  Number,
  Plus,
  Minus,
  Star,
  Slash,
  Caret,
  At,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  EqualEqual,
  NotEqual,
  Equal,
  Comma,
  Colon,
  Semicolon,
  DotDot,
  LeftParen,
  RightParen,
  LeftBracket,
  RightBracket,
  LeftBrace,
  RightBrace,
  Fn,
  For,
  Return,
  And,
  Or,
  Not,
  None,
};

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  bool first_on_line = false;
  std::uint32_t begin = 0;  ///< bytes of the source
  std::uint32_t end = 0;
};

/// How messages call a token of this kind: "`+`", "a name".
std::string describe(TokenKind kind);

/// Splits a source into tokens; the last one is EndOfFile. What is no token is reported and left out. Comments and
/// blanks (spaces, tabs, line ends, a byte order mark at the start) are left out too.
std::vector<Token> tokenize(const std::shared_ptr<const Source>& source, Reporter& reporter);

}  // namespace cellfuse
