#include "passes/simplify_rules.h"

namespace cellfuse {

namespace {

/// Matrix times vector needs no transposed matrix.
Expr simplify_matmul(Expr e) {
  Expr a = operand(e, 0);
  Expr b = operand(e, 1);
  if (is(a, Op::Transpose) && b.shape().rank() == 1) return matmul(b, operand(a, 0));
  if (is(b, Op::Transpose) && a.shape().rank() == 1) return matmul(operand(b, 0), a);
  return {};
}

}  // namespace

Expr simplify_contraction(Simplifier& /*simplify*/, Expr e) {
  switch (e.node().op) {
    case Op::MatMul: return simplify_matmul(e);
    case Op::Linear:
      if (is(operand(e, 1), Op::Transpose)) return linear(operand(e, 0), operand(operand(e, 1), 0), !e.node().flag);
      return {};
    default: return {};
  }
}

}  // namespace cellfuse
