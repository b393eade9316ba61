#include "passes/legalise.h"

#include <string>

#include "ir/diagnostic.h"
#include "ir/expr.h"
#include "passes/rewrite.h"

namespace cellfuse {

namespace {

constexpr int kMaxNesting = 16;

bool is_once(Expr e) { return e.node().domain == Domain::Once; }

/// Products with a matrix that each sample has its own of: spread, multiply, add up.
Expr elementwise_product(Expr a, Expr b) {
  const Shape& sa = a.shape();
  const Shape& sb = b.shape();
  if (sb.rank() == 1) return sum(a * broadcast(b, sa, {1}), 1);
  if (sa.rank() == 1) return sum(broadcast(a, sb, {0}) * b, 0);
  Shape cube{sa[0], sa[1], sb[1]};
  return sum(broadcast(a, cube, {0, 1}) * broadcast(b, cube, {1, 2}), 1);
}

Expr legal_matmul(Expr a, Expr b) {
  if (b.shape().rank() == 2 && is_once(b)) return linear(a, b, true);
  if (a.shape().rank() == 2 && is_once(a)) {
    if (b.shape().rank() == 1) return linear(b, a, false);
    return transpose(linear(transpose(b), a, false));
  }
  return elementwise_product(a, b);
}

Expr legal_outer(Expr a, Expr b) {
  Shape shape{a.shape()[0], b.shape()[0]};
  return broadcast(a, shape, {0}) * broadcast(b, shape, {1});
}

NodeId legal(Graph& graph, const Node& node) {
  auto operand = [&](std::size_t i) { return i < node.operands.size() ? Expr{&graph, node.operands[i]} : Expr{}; };
  if (is_elementwise(node.op) && elementwise(node.op).expand != nullptr) {
    return elementwise(node.op).expand(operand(0), operand(1), operand(2)).id;
  }
  if (node.op == Op::MatMul) return legal_matmul(operand(0), operand(1)).id;
  if (node.op == Op::Outer) return legal_outer(operand(0), operand(1)).id;
  return kNoNode;
}

bool is_legal(const Node& node) {
  if (is_elementwise(node.op)) return elementwise(node.op).expand == nullptr;
  switch (node.op) {
    case Op::MatMul:
    case Op::Outer:
    case Op::WithGrad:
    case Op::Placeholder:
    case Op::Training: return false;
    default: return true;
  }
}

/// The first live node that is not legal, or kNoNode.
NodeId find_illegal(const Cell& cell) {
  std::vector<bool> live = reachable(cell.graph, cell.roots());
  for (NodeId id = 0; id < cell.graph.size(); ++id) {
    if (live[id] && !is_legal(cell.graph[id])) return id;
  }
  return kNoNode;
}

}  // namespace

Cell legalise(const Cell& cell) {
  Cell result = expose_outer_products(cell);
  // An expansion may contain operations that have one of their own.
  for (int i = 0; i < kMaxNesting; ++i) {
    result = rewrite(result, [](Graph& graph, const Node& node, NodeId) { return legal(graph, node); });
    if (find_illegal(result) == kNoNode) return result;
  }
  verify_legal(result);
  return result;
}

void verify_legal(const Cell& cell) {
  NodeId id = find_illegal(cell);
  if (id == kNoNode) return;
  const Node& node = cell.graph[id];
  throw InternalError("legalise", "value " + std::to_string(id) + " of cell " + cell.name + " is a " +
                                      std::string(name(node.op)) + ", which lower levels do not know");
}

}  // namespace cellfuse
