#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/ops.h"
#include "ir/source.h"

/// The text of a cell as a tree, before anything is known about names and shapes. The parser and the C++ builder make
/// it.
namespace cellfuse::ast {

struct Expression;
/// Expressions are immutable and may be shared.
using ExpressionPtr = std::shared_ptr<const Expression>;

/// A name and where it stands.
struct Identifier {
  std::string name;
  Span span;
};

/// What could not be read; the error was reported.
struct Unreadable {};

struct Number {
  double value = 0;
  bool whole = false;  ///< written with digits alone
};

struct Name {
  std::string name;
  bool next = false;  ///< `h'`
};

struct Unary {
  Op op = Op::Neg;  ///< Neg or Not
  ExpressionPtr operand;
};

/// One more operand of a Chain.
struct Link {
  Op op = Op::Add;
  Span op_span;
  ExpressionPtr operand;
  /// The `*` of C++: `@` where one side is a matrix and the other a vector, else elementwise.
  bool product = false;
};

/// Operators of one precedence from left to right: `a - b + c`. Flat, so that a long sum is not a deep tree.
struct Chain {
  ExpressionPtr first;
  std::vector<Link> rest;
};

struct Argument {
  Identifier keyword;  ///< empty name: by position
  ExpressionPtr value;
};

struct Call {
  Identifier function;
  std::vector<Argument> arguments;
};

/// One place between the brackets of `x[...]`.
struct Subscript {
  enum class Kind : std::uint8_t { Pick, Range, NewAxis };
  Kind kind = Kind::Pick;
  Span span;
  ExpressionPtr begin;  ///< index of a Pick; null where a Range starts at 0
  ExpressionPtr end;    ///< null where a Range goes to the end
};

struct Index {
  ExpressionPtr base;
  std::vector<Subscript> subscripts;
};

struct Expression {
  Span span;
  std::variant<Unreadable, Number, Name, Unary, Chain, Call, Index> node;
};

struct Statement;

/// `name = value`; several targets take the parts of a `split`.
struct Assign {
  std::vector<Identifier> targets;
  ExpressionPtr value;
};

/// `h' = value`
struct Advance {
  Identifier state;
  ExpressionPtr value;
};

/// `output name = value`, `output name`, `output name'`
struct Output {
  Identifier name;
  bool next = false;
  ExpressionPtr value;  ///< null without `=`
};

/// `for variable in begin..end { body }`
struct Loop {
  Identifier variable;
  ExpressionPtr begin;
  ExpressionPtr end;
  std::vector<Statement> body;
};

struct Statement {
  Span span;
  std::variant<Assign, Advance, Output, Loop> node;
};

/// `fn name(parameters) = result grad gradients`, or with statements and `return result`.
struct Function {
  Identifier name;
  std::vector<Identifier> parameters;
  std::vector<Statement> body;
  ExpressionPtr result;
  bool has_gradient = false;
  std::vector<ExpressionPtr> gradients;
  Span gradient_span;
};

enum class Role : std::uint8_t { Input, State, Param, Buffer };

/// `input x[I]`
struct Declaration {
  Role role = Role::Input;
  Identifier name;
  std::vector<ExpressionPtr> extents;
  ExpressionPtr start;  ///< of a state; may be null
  Span span;            ///< name and brackets
};

/// A dimension or a constant of the head of a cell.
struct Setting {
  Identifier name;
  ExpressionPtr value;  ///< null for a dimension without default
};

struct Cell {
  Identifier name;
  std::vector<Setting> dims;
  std::vector<Setting> constants;
  std::vector<Declaration> declarations;
  std::vector<Function> functions;
  std::vector<Statement> statements;
  /// True when a part that could not be read was left out, so that names may be missing.
  bool incomplete = false;
};

struct File {
  std::vector<Function> functions;
  std::vector<Cell> cells;
  /// True when a function may be missing, of the file or of a cell.
  bool functions_incomplete = false;
};

}  // namespace cellfuse::ast
