#pragma once

#include <string>
#include <vector>

#include "ir/dtype.h"
#include "ir/graph.h"

namespace cellfuse::cuda {

/// An expression, and how tightly its outermost operator binds.
struct Expression {
  enum Precedence { Conditional, Comparison, Sum, Product, Prefix, Primary };
  std::string text;
  Precedence precedence = Primary;
};

/// `text`, in parentheses where the operator around it binds more tightly than `precedence` allows.
std::string operand(const Expression& expression, Expression::Precedence least);

/// A number that reads back as the same one.
std::string number(double value, DType compute);

/// An elementwise operation on its operands. `vector`: the result has lanes.
Expression spell(Op op, const std::vector<Expression>& operands, bool vector);

}  // namespace cellfuse::cuda
