#include "frontend/language/expression_parser.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace cellfuse {

using namespace ast;

namespace {

struct Operator {
  TokenKind token;
  Op op;
};

/// Left-associative operators from the loosest to the tightest; comparisons and `not` stand between the second and the
/// third row.
constexpr int kSumLevel = 2;
constexpr int kLevels = 4;
constexpr std::array<std::array<Operator, 3>, kLevels> kOperators{{
    {{{TokenKind::Or, Op::Or}, {TokenKind::Or, Op::Or}, {TokenKind::Or, Op::Or}}},
    {{{TokenKind::And, Op::And}, {TokenKind::And, Op::And}, {TokenKind::And, Op::And}}},
    {{{TokenKind::Plus, Op::Add}, {TokenKind::Minus, Op::Sub}, {TokenKind::Minus, Op::Sub}}},
    {{{TokenKind::Star, Op::Mul}, {TokenKind::Slash, Op::Div}, {TokenKind::At, Op::MatMul}}},
}};
constexpr std::array<Operator, 6> kComparisons{{{TokenKind::Less, Op::Lt},
                                                {TokenKind::LessEqual, Op::Le},
                                                {TokenKind::Greater, Op::Gt},
                                                {TokenKind::GreaterEqual, Op::Ge},
                                                {TokenKind::EqualEqual, Op::Eq},
                                                {TokenKind::NotEqual, Op::Ne}}};

template <std::size_t N>
std::optional<Op> find_operator(const std::array<Operator, N>& row, TokenKind token) {
  for (const Operator& entry : row) {
    if (entry.token == token) return entry.op;
  }
  return std::nullopt;
}

template <typename Node>
ExpressionPtr make(const Span& span, Node node) {
  return std::make_shared<Expression>(Expression{span, std::move(node)});
}

}  // namespace

ExpressionPtr ExpressionParser::read() {
  const NestingGuard guard(tokens_, nesting_);
  return read_chain(0);
}

ExpressionPtr ExpressionParser::read_chain(int level) {
  const Span begin = tokens_.span();
  auto operand = [&] {
    if (level + 1 == kSumLevel) return read_not();
    return level + 1 == kLevels ? read_sign() : read_chain(level + 1);
  };
  ExpressionPtr first = operand();
  Chain chain{first, {}};
  while (const std::optional<Op> op = find_operator(kOperators[static_cast<std::size_t>(level)], tokens_.kind())) {
    Link link;
    link.op = *op;
    link.op_span = tokens_.span();
    tokens_.take();
    link.operand = operand();
    chain.rest.push_back(std::move(link));
  }
  return chain.rest.empty() ? first : make(tokens_.span_since(begin), std::move(chain));
}

ExpressionPtr ExpressionParser::read_not() {
  if (tokens_.kind() != TokenKind::Not) return read_comparison();
  const NestingGuard guard(tokens_, nesting_);
  const Span begin = tokens_.span();
  tokens_.take();
  ExpressionPtr operand = read_not();
  return make(tokens_.span_since(begin), Unary{Op::Not, std::move(operand)});
}

ExpressionPtr ExpressionParser::read_comparison() {
  const Span begin = tokens_.span();
  ExpressionPtr left = read_chain(kSumLevel);
  const std::optional<Op> op = find_operator(kComparisons, tokens_.kind());
  if (!op) return left;
  const Span op_span = tokens_.span();
  tokens_.take();
  ExpressionPtr right = read_chain(kSumLevel);
  if (find_operator(kComparisons, tokens_.kind())) {
    tokens_.fail("comparisons do not chain: expected the end of the expression",
                 "write `a < b and b < c`, or parentheses");
  }
  return make(tokens_.span_since(begin), Chain{std::move(left), {Link{*op, op_span, std::move(right)}}});
}

ExpressionPtr ExpressionParser::read_sign() {
  if (tokens_.kind() != TokenKind::Minus && tokens_.kind() != TokenKind::Plus) return read_power();
  const NestingGuard guard(tokens_, nesting_);
  const Span begin = tokens_.span();
  const bool minus = tokens_.kind() == TokenKind::Minus;
  tokens_.take();
  ExpressionPtr operand = read_sign();
  return minus ? make(tokens_.span_since(begin), Unary{Op::Neg, std::move(operand)}) : operand;
}

ExpressionPtr ExpressionParser::read_power() {
  const Span begin = tokens_.span();
  ExpressionPtr base = read_postfix();
  if (tokens_.kind() != TokenKind::Caret) return base;
  const NestingGuard guard(tokens_, nesting_);
  const Span op_span = tokens_.span();
  tokens_.take();
  ExpressionPtr exponent = read_sign();
  return make(tokens_.span_since(begin), Chain{std::move(base), {Link{Op::Pow, op_span, std::move(exponent)}}});
}

ExpressionPtr ExpressionParser::read_postfix() {
  ExpressionPtr value = read_primary();
  std::optional<NestingGuard> guard;
  while (tokens_.kind() == TokenKind::LeftBracket) {
    if (guard) {
      guard->deepen(tokens_);
    } else {
      guard.emplace(tokens_, nesting_);
    }
    value = read_index(std::move(value));
  }
  return value;
}

ExpressionPtr ExpressionParser::read_primary() {
  switch (tokens_.kind()) {
    case TokenKind::Number: return read_number();
    case TokenKind::LeftParen: return read_parenthesised();
    case TokenKind::Name: {
      Identifier name{std::string(tokens_.text()), tokens_.span()};
      tokens_.take();
      if (tokens_.kind() == TokenKind::LeftParen) return read_call(name);
      return make(name.span, Name{name.name, false});
    }
    case TokenKind::PrimedName: {
      std::string name(tokens_.text());
      name.pop_back();
      const Span span = tokens_.span();
      tokens_.take();
      return make(span, Name{std::move(name), true});
    }
    case TokenKind::None: tokens_.fail("expected an expression", "`None` adds an axis between brackets: `x[:, None]`");
    case TokenKind::LeftBracket: tokens_.fail("expected an expression", "vectors are put together with `concat(a, b)`");
    case TokenKind::Not: tokens_.fail("expected an operand", "`not` binds loosely: put it in parentheses");
    default: tokens_.fail("expected an expression");
  }
}

ExpressionPtr ExpressionParser::read_number() {
  const Span span = tokens_.span();
  const std::string_view text = tokens_.text();
  Number number;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number.value);
  number.whole = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (result.ec == std::errc::result_out_of_range) {
    tokens_.reporter().error(span, "the number is out of the range of float64");
    number.value = 0;
  }
  tokens_.take();
  return make(span, number);
}

ExpressionPtr ExpressionParser::read_parenthesised() {
  const Span opened = tokens_.open(TokenKind::LeftParen);
  ExpressionPtr inner = read();
  if (tokens_.kind() == TokenKind::Comma) tokens_.fail("expected `)`", "vectors are put together with `concat(a, b)`");
  tokens_.close(TokenKind::RightParen, opened);
  return inner;
}

ExpressionPtr ExpressionParser::read_call(const Identifier& function) {
  Call call{function, {}};
  const Span opened = tokens_.open(TokenKind::LeftParen);
  while (tokens_.kind() != TokenKind::RightParen) {
    Argument argument;
    if (tokens_.kind() == TokenKind::Name && tokens_.followed_by(TokenKind::Equal)) {
      argument.keyword = {std::string(tokens_.text()), tokens_.span()};
      tokens_.take();
      tokens_.take();
    }
    argument.value = read();
    call.arguments.push_back(std::move(argument));
    if (!tokens_.accept(TokenKind::Comma)) break;
  }
  tokens_.close(TokenKind::RightParen, opened);
  return make(tokens_.span_since(function.span), std::move(call));
}

ExpressionPtr ExpressionParser::read_index(ExpressionPtr base) {
  const Span begin = base->span;
  Index index{std::move(base), {}};
  const Span opened = tokens_.open(TokenKind::LeftBracket);
  do index.subscripts.push_back(read_subscript());
  while (tokens_.accept(TokenKind::Comma));
  tokens_.close(TokenKind::RightBracket, opened);
  return make(tokens_.span_since(begin), std::move(index));
}

Subscript ExpressionParser::read_subscript() {
  Subscript subscript;
  const Span begin = tokens_.span();
  if (tokens_.accept(TokenKind::None)) {
    subscript.kind = Subscript::Kind::NewAxis;
  } else {
    if (tokens_.kind() != TokenKind::Colon) subscript.begin = read();
    if (tokens_.accept(TokenKind::Colon)) {
      subscript.kind = Subscript::Kind::Range;
      if (tokens_.kind() != TokenKind::Comma && tokens_.kind() != TokenKind::RightBracket) subscript.end = read();
    }
  }
  subscript.span = tokens_.span_since(begin);
  return subscript;
}

}  // namespace cellfuse
