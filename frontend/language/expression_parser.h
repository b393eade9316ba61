#pragma once

#include <string>

#include "frontend/language/ast.h"
#include "frontend/language/token_stream.h"

namespace cellfuse {

/// Deepest nesting of parentheses, brackets, signs, powers and blocks.
inline constexpr int kMaxNesting = 100;

/// Counts one level of nesting while it lives; reports and throws SyntaxError past the limit.
class NestingGuard {
 public:
  NestingGuard(TokenStream& tokens, int& depth) : depth_(depth), outer_(depth) { deepen(tokens); }
  ~NestingGuard() { depth_ = outer_; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;

  /// One level more.
  void deepen(TokenStream& tokens) {
    if (depth_ < kMaxNesting) {
      ++depth_;
      return;
    }
    depth_ = outer_;
    tokens.reporter().error(tokens.span(), "nested more than " + std::to_string(kMaxNesting) + " deep");
    throw SyntaxError{};
  }

 private:
  int& depth_;
  int outer_;
};

/// Recursive descent over one expression. Operators of one precedence are read in a loop, so only brackets, signs and
/// powers nest.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  /// Reads an expression. Throws SyntaxError behind a reported mistake.
  ast::ExpressionPtr read();

 private:
  ast::ExpressionPtr read_chain(int level);
  ast::ExpressionPtr read_comparison();
  ast::ExpressionPtr read_not();
  ast::ExpressionPtr read_sign();
  ast::ExpressionPtr read_power();
  ast::ExpressionPtr read_postfix();
  ast::ExpressionPtr read_primary();
  ast::ExpressionPtr read_number();
  ast::ExpressionPtr read_parenthesised();
  ast::ExpressionPtr read_call(const ast::Identifier& function);
  ast::ExpressionPtr read_index(ast::ExpressionPtr base);
  ast::Subscript read_subscript();

  TokenStream& tokens_;
  int nesting_ = 0;
};

}  // namespace cellfuse
