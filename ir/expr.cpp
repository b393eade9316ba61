#include "ir/expr.h"

#include <algorithm>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

void require(bool condition, const char* what) { check_internal(condition, "Expr", what); }

Expr add(Graph& graph, Node node) { return {&graph, graph.add(std::move(node))}; }

Expr unary_view(Expr x, Op op, const Shape& shape) {
  Node node;
  node.op = op;
  node.shape = shape;
  node.operands = {x.id};
  return add(*x.graph, std::move(node));
}

Expr materialise(Graph& graph, const Operand& operand, const Shape& shape) {
  if (!operand.expr) return constant(graph, operand.value, shape);
  if (operand.expr.node().op == Op::Constant) return constant(graph, operand.expr.node().value, shape);
  return broadcast_to(operand.expr, shape);
}

Expr apply_operands(Op op, const Operand* operands, std::size_t count) {
  require(static_cast<int>(count) == elementwise(op).arity, "wrong number of operands");
  Graph* graph = nullptr;
  Shape shape;
  for (std::size_t i = 0; i < count; ++i) {
    if (!operands[i].expr) continue;
    graph = operands[i].expr.graph;
    Shape joined;
    require(broadcast_shapes(shape, operands[i].expr.shape(), joined), "shapes do not broadcast");
    shape = joined;
  }
  if (graph == nullptr) throw InternalError("Expr", "an elementwise operation of numbers alone");
  Node node;
  node.op = op;
  node.shape = shape;
  for (std::size_t i = 0; i < count; ++i) node.operands.push_back(materialise(*graph, operands[i], shape).id);
  return add(*graph, std::move(node));
}

}  // namespace

Expr constant(Graph& graph, double value, const Shape& shape) {
  Node node;
  node.op = Op::Constant;
  node.shape = shape;
  node.value = value;
  return add(graph, std::move(node));
}

Expr iota(Graph& graph, const Shape& shape, int axis) {
  Node node;
  node.op = Op::Iota;
  node.shape = shape;
  node.axis = static_cast<std::int8_t>(axis);
  return add(graph, std::move(node));
}

Expr leaf(Graph& graph, Op op, std::int32_t index, const Shape& shape) {
  require(is_leaf(op), "not a leaf");
  Node node;
  node.op = op;
  node.shape = shape;
  node.index = index;
  return add(graph, std::move(node));
}

Expr random(Graph& graph, std::int32_t site, const Shape& shape, bool shared, bool per_sample) {
  Node node;
  node.op = Op::Random;
  node.shape = shape;
  node.index = site;
  node.flag = shared;
  node.begin = per_sample ? 0 : 1;
  node.domain = !shared ? Domain::Step : (per_sample ? Domain::Sample : Domain::Once);
  return add(graph, std::move(node));
}

Expr apply(Op op, std::initializer_list<Operand> operands) {
  return apply_operands(op, operands.begin(), operands.size());
}

Expr apply(Op op, const std::vector<Expr>& operands) {
  std::vector<Operand> list(operands.begin(), operands.end());
  return apply_operands(op, list.data(), list.size());
}

Expr operator-(Expr a) { return apply(Op::Neg, {a}); }
Expr operator+(Operand a, Operand b) { return apply(Op::Add, {a, b}); }
Expr operator-(Operand a, Operand b) { return apply(Op::Sub, {a, b}); }
Expr operator*(Operand a, Operand b) { return apply(Op::Mul, {a, b}); }
Expr operator/(Operand a, Operand b) { return apply(Op::Div, {a, b}); }
Expr lt(Operand a, Operand b) { return apply(Op::Lt, {a, b}); }
Expr le(Operand a, Operand b) { return apply(Op::Le, {a, b}); }
Expr gt(Operand a, Operand b) { return apply(Op::Gt, {a, b}); }
Expr ge(Operand a, Operand b) { return apply(Op::Ge, {a, b}); }
Expr eq(Operand a, Operand b) { return apply(Op::Eq, {a, b}); }
Expr ne(Operand a, Operand b) { return apply(Op::Ne, {a, b}); }
Expr where(Operand c, Operand a, Operand b) { return apply(Op::Where, {c, a, b}); }
Expr min(Operand a, Operand b) { return apply(Op::Min, {a, b}); }
Expr max(Operand a, Operand b) { return apply(Op::Max, {a, b}); }
Expr clamp(Operand x, Operand lo, Operand hi) { return apply(Op::Clamp, {x, lo, hi}); }
Expr pow(Operand a, Operand b) { return apply(Op::Pow, {a, b}); }
Expr abs(Expr a) { return apply(Op::Abs, {a}); }
Expr sign(Expr a) { return apply(Op::Sign, {a}); }
Expr floor(Expr a) { return apply(Op::Floor, {a}); }
Expr exp(Expr a) { return apply(Op::Exp, {a}); }
Expr log(Expr a) { return apply(Op::Log, {a}); }
Expr log1p(Expr a) { return apply(Op::Log1p, {a}); }
Expr expm1(Expr a) { return apply(Op::Expm1, {a}); }
Expr sqrt(Expr a) { return apply(Op::Sqrt, {a}); }
Expr square(Expr a) { return apply(Op::Square, {a}); }
Expr sin(Expr a) { return apply(Op::Sin, {a}); }
Expr cos(Expr a) { return apply(Op::Cos, {a}); }
Expr erf(Expr a) { return apply(Op::Erf, {a}); }
Expr tanh(Expr a) { return apply(Op::Tanh, {a}); }
Expr sigmoid(Expr a) { return apply(Op::Sigmoid, {a}); }
Expr detach(Expr a) { return apply(Op::Detach, {a}); }

Expr slice(Expr x, int axis, std::int64_t begin, const Extent& extent) {
  std::int64_t end = begin + extent.size;
  require(axis >= 0 && axis < x.shape().rank() && begin >= 0 && end <= x.shape()[axis].size && begin <= end,
          "slice out of range");
  if (begin == 0 && end == x.shape()[axis].size) return x;
  Node node;
  node.op = Op::Slice;
  node.shape = x.shape().with(axis, extent);
  node.operands = {x.id};
  node.axis = static_cast<std::int8_t>(axis);
  node.begin = begin;
  node.end = end;
  return add(*x.graph, std::move(node));
}

Expr slice(Expr x, int axis, std::int64_t begin, std::int64_t end) {
  return slice(x, axis, begin, Extent(end - begin));
}

Expr concat(const std::vector<Expr>& parts, int axis) {
  require(!parts.empty(), "concat of nothing");
  if (parts.size() == 1) return parts.front();
  Node node;
  node.op = Op::Concat;
  node.axis = static_cast<std::int8_t>(axis);
  Extent total(0);
  for (const Expr& part : parts) {
    require(axis < part.shape().rank() && part.shape().without(axis) == parts[0].shape().without(axis),
            "concat shapes");
    total = total + part.shape()[axis];
    node.operands.push_back(part.id);
  }
  node.shape = parts[0].shape().with(axis, total);
  return add(*parts[0].graph, std::move(node));
}

Expr reshape(Expr x, const Shape& shape) {
  require(shape.count() == x.shape().count(), "reshape changes the number of elements");
  if (shape == x.shape()) return x;
  return unary_view(x, Op::Reshape, shape);
}

Expr transpose(Expr x) {
  require(x.shape().rank() == 2, "transpose of something else than a matrix");
  return unary_view(x, Op::Transpose, {x.shape()[1], x.shape()[0]});
}

Expr broadcast(Expr x, const Shape& shape, const std::vector<int>& axes) {
  require(static_cast<int>(axes.size()) == x.shape().rank(), "broadcast needs an axis for each axis");
  Node node;
  node.op = Op::Broadcast;
  node.shape = shape;
  node.operands = {x.id};
  int i = 0;
  int previous = -1;
  for (int axis : axes) {
    require(axis > previous && axis < shape.rank(), "broadcast axes must ascend");
    require(x.shape()[i].size == 1 || x.shape()[i] == shape[axis], "broadcast sizes");
    node.axes[static_cast<std::size_t>(i++)] = static_cast<std::int8_t>(axis);
    previous = axis;
  }
  if (shape == x.shape()) return x;
  if (x.node().op == Op::Constant) return constant(*x.graph, x.node().value, shape);
  return add(*x.graph, std::move(node));
}

Expr broadcast_to(Expr x, const Shape& shape) {
  if (x.shape() == shape) return x;
  int rank = x.shape().rank();
  int lead = shape.rank() - rank;
  require(lead >= 0, "broadcast to a lower rank");
  switch (rank) {
    case 0: return broadcast(x, shape, {});
    case 1: return broadcast(x, shape, {lead});
    case 2: return broadcast(x, shape, {lead, lead + 1});
    default: return broadcast(x, shape, {lead, lead + 1, lead + 2});
  }
}

Expr reduce(Op op, Expr x, int axis) {
  require(is_reduction(op) && axis >= 0 && axis < x.shape().rank(), "reduction axis");
  Node node;
  node.op = op;
  node.shape = x.shape().without(axis);
  node.operands = {x.id};
  node.axis = static_cast<std::int8_t>(axis);
  return add(*x.graph, std::move(node));
}

Expr sum(Expr x, int axis) { return reduce(Op::Sum, x, axis); }

Expr cumsum(Expr x, int axis, bool from_the_end) {
  require(axis >= 0 && axis < x.shape().rank(), "cumsum axis");
  Node node;
  node.op = Op::CumSum;
  node.shape = x.shape();
  node.operands = {x.id};
  node.axis = static_cast<std::int8_t>(axis);
  node.flag = from_the_end;
  return add(*x.graph, std::move(node));
}

Expr matmul(Expr a, Expr b) {
  int ra = a.shape().rank();
  int rb = b.shape().rank();
  require(ra >= 1 && ra <= 2 && rb >= 1 && rb <= 2 && ra + rb > 2, "matmul ranks");
  require(a.shape()[ra - 1] == b.shape()[0], "matmul inner sizes");
  Node node;
  node.op = Op::MatMul;
  if (ra == 2) node.shape.push_back(a.shape()[0]);
  if (rb == 2) node.shape.push_back(b.shape()[1]);
  node.operands = {a.id, b.id};
  return add(*a.graph, std::move(node));
}

Expr outer(Expr a, Expr b) {
  require(a.shape().rank() == 1 && b.shape().rank() == 1, "outer of something else than vectors");
  Node node;
  node.op = Op::Outer;
  node.shape = {a.shape()[0], b.shape()[0]};
  node.operands = {a.id, b.id};
  return add(*a.graph, std::move(node));
}

Expr linear(Expr x, Expr w, bool contract_rows) {
  int rank = x.shape().rank();
  require(rank >= 1 && rank <= 2 && w.shape().rank() == 2 && w.node().domain == Domain::Once, "linear operands");
  require(x.shape()[rank - 1] == w.shape()[contract_rows ? 0 : 1], "linear inner sizes");
  Node node;
  node.op = Op::Linear;
  node.shape = x.shape().with(rank - 1, w.shape()[contract_rows ? 1 : 0]);
  node.operands = {x.id, w.id};
  node.flag = contract_rows;
  return add(*x.graph, std::move(node));
}

Expr accumulate(Expr x, Domain domain) { return accumulate(x, domain, x.node().domain); }

Expr accumulate(Expr x, Domain domain, Domain from) {
  require(domain < from && x.node().domain <= from, "accumulate must leave out steps or samples");
  Node node;
  node.op = Op::Accumulate;
  node.shape = x.shape();
  node.operands = {x.id};
  node.domain = domain;
  node.begin = static_cast<std::int64_t>(from);
  return add(*x.graph, std::move(node));
}

Expr accumulate_outer(Expr a, Expr b) { return accumulate_outer(a, b, std::max(a.node().domain, b.node().domain)); }

Expr accumulate_outer(Expr a, Expr b, Domain from) {
  require(from > Domain::Once && std::max(a.node().domain, b.node().domain) <= from,
          "accumulate_outer must leave out steps or samples");
  int rank = a.shape().rank();
  require(rank == b.shape().rank() && (rank == 1 || rank == 2), "accumulate_outer ranks");
  require(rank == 1 || a.shape()[0] == b.shape()[0], "accumulate_outer rows");
  Node node;
  node.op = Op::AccumulateOuter;
  node.shape = {a.shape()[rank - 1], b.shape()[rank - 1]};
  node.operands = {a.id, b.id};
  node.domain = Domain::Once;
  node.begin = static_cast<std::int64_t>(from);
  return add(*a.graph, std::move(node));
}

Expr with_grad(Expr value, const std::vector<Expr>& arguments, const std::vector<Expr>& gradients, std::int32_t index) {
  require(arguments.size() == gradients.size(), "with_grad needs a gradient for each argument");
  Node node;
  node.op = Op::WithGrad;
  node.shape = value.shape();
  node.index = index;
  node.operands = {value.id};
  for (const Expr& argument : arguments) node.operands.push_back(argument.id);
  for (const Expr& gradient : gradients) node.operands.push_back(gradient.id);
  return add(*value.graph, std::move(node));
}

}  // namespace cellfuse
