#pragma once

#include <initializer_list>
#include <vector>

#include "ir/graph.h"

namespace cellfuse {

/// A node of a graph as a value to compute with: `y * (1.0 - y)` adds nodes. Shapes must fit (elementwise operands
/// broadcast by NumPy's rule); a misfit is an InternalError, since the user's shapes were checked before.
struct Expr {
  Graph* graph = nullptr;
  NodeId id = kNoNode;

  explicit operator bool() const { return graph != nullptr; }
  const Node& node() const { return (*graph)[id]; }
  const Shape& shape() const { return node().shape; }
};

/// An operand that is an Expr or a number.
struct Operand {
  Operand(Expr e) : expr(e) {}     // NOLINT(google-explicit-constructor)
  Operand(double v) : value(v) {}  // NOLINT(google-explicit-constructor)
  Expr expr;
  double value = 0;
};

// Leaves.
Expr constant(Graph& graph, double value, const Shape& shape = {});
Expr iota(Graph& graph, const Shape& shape, int axis);
/// Any leaf with an index: Input, State, Param, Initial, InitialGiven, Final, StepIndex, Training, Placeholder.
Expr leaf(Graph& graph, Op op, std::int32_t index, const Shape& shape);
/// See Op::Random; `domain` is Step, or, for one draw a sequence, Sample or (for weights) Once.
/// A Step draw with `per_sample` false has one mask for the whole batch (`begin` is 1 in its node).
Expr random(Graph& graph, std::int32_t site, const Shape& shape, bool shared, bool per_sample);

// Elementwise. At least one operand must be an Expr.
Expr apply(Op op, std::initializer_list<Operand> operands);
Expr apply(Op op, const std::vector<Expr>& operands);
Expr operator-(Expr a);
Expr operator+(Operand a, Operand b);
Expr operator-(Operand a, Operand b);
Expr operator*(Operand a, Operand b);
Expr operator/(Operand a, Operand b);
Expr lt(Operand a, Operand b);
Expr le(Operand a, Operand b);
Expr gt(Operand a, Operand b);
Expr ge(Operand a, Operand b);
Expr eq(Operand a, Operand b);
Expr ne(Operand a, Operand b);
Expr where(Operand c, Operand a, Operand b);
Expr min(Operand a, Operand b);
Expr max(Operand a, Operand b);
Expr clamp(Operand x, Operand lo, Operand hi);
Expr pow(Operand a, Operand b);
Expr abs(Expr a);
Expr sign(Expr a);
Expr floor(Expr a);
Expr exp(Expr a);
Expr log(Expr a);
Expr log1p(Expr a);
Expr expm1(Expr a);
Expr sqrt(Expr a);
Expr square(Expr a);
Expr sin(Expr a);
Expr cos(Expr a);
Expr erf(Expr a);
Expr tanh(Expr a);
Expr sigmoid(Expr a);
Expr detach(Expr a);

// Views.
Expr slice(Expr x, int axis, std::int64_t begin, std::int64_t end);
Expr slice(Expr x, int axis, std::int64_t begin, const Extent& extent);
Expr concat(const std::vector<Expr>& parts, int axis);
Expr reshape(Expr x, const Shape& shape);
Expr transpose(Expr x);
/// Operand axis i becomes result axis axes[i].
Expr broadcast(Expr x, const Shape& shape, const std::vector<int>& axes);
/// NumPy's alignment: trailing axes.
Expr broadcast_to(Expr x, const Shape& shape);

// Along an axis (reductions drop it).
Expr reduce(Op op, Expr x, int axis);
Expr sum(Expr x, int axis);
Expr cumsum(Expr x, int axis, bool from_the_end = false);

// Contractions.
Expr matmul(Expr a, Expr b);
Expr outer(Expr a, Expr b);
/// See Op::Linear: `contract_rows` false is `W @ x`, true is `x @ W`.
Expr linear(Expr x, Expr w, bool contract_rows);

// Across steps and samples.
/// Sums over what `from` has and `domain` does not have; without `from`, over what the operands have.
Expr accumulate(Expr x, Domain domain);
Expr accumulate(Expr x, Domain domain, Domain from);
Expr accumulate_outer(Expr a, Expr b);
Expr accumulate_outer(Expr a, Expr b, Domain from);

/// See Op::WithGrad.
Expr with_grad(Expr value, const std::vector<Expr>& arguments, const std::vector<Expr>& gradients, std::int32_t index);

}  // namespace cellfuse
