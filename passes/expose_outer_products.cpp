#include <unordered_map>
#include <vector>

#include "ir/expr.h"
#include "passes/legalise.h"
#include "passes/rewrite.h"

namespace cellfuse {

namespace {

Expr operand(Expr e, std::size_t i) { return {e.graph, e.node().operands[i]}; }
bool is_zero(Expr e) { return e.node().op == Op::Constant && e.node().value == 0; }
bool is_once(Expr e) { return e.node().domain == Domain::Once; }

/// A factor of a product of matrices, elementwise.
struct Factor {
  Expr value;
  bool divides = false;
};

/// A matrix as the elementwise product of columns `[rows]` spread along the second axis, rows `[columns]` spread along
/// the first, scalars, and matrices that depend on parameters only.
struct Product {
  std::vector<Factor> column;
  std::vector<Factor> row;
  std::vector<Factor> scalar;
  std::vector<Factor> once;
  std::vector<Expr> conditions;  ///< scalars: where one is 0, the product is 0
  bool negative = false;
};

bool collect(Expr e, bool divides, Product& product);

bool collect_broadcast(Expr e, bool divides, Product& product) {
  Expr source = operand(e, 0);
  if (source.shape().rank() > 1) return false;
  if (source.shape().rank() == 0) {
    product.scalar.push_back({source, divides});
  } else {
    (e.node().axes[0] == 0 ? product.column : product.row).push_back({source, divides});
  }
  return true;
}

/// where(condition, x, 0) or where(condition, 0, x) with a scalar condition.
bool collect_where(Expr e, Product& product) {
  Expr condition = operand(e, 0);
  bool scalar = condition.node().op == Op::Broadcast && operand(condition, 0).shape().rank() == 0;
  if (!scalar) return false;
  condition = operand(condition, 0);
  if (is_zero(operand(e, 2))) {
    product.conditions.push_back(condition);
    return collect(operand(e, 1), false, product);
  }
  if (!is_zero(operand(e, 1))) return false;
  product.conditions.push_back(eq(condition, 0.0));
  return collect(operand(e, 2), false, product);
}

bool collect(Expr e, bool divides, Product& product) {
  if (is_once(e)) {
    product.once.push_back({e, divides});
    return true;
  }
  switch (e.node().op) {
    case Op::Mul: return collect(operand(e, 0), divides, product) && collect(operand(e, 1), divides, product);
    case Op::Div: return collect(operand(e, 0), divides, product) && collect(operand(e, 1), !divides, product);
    case Op::Neg: product.negative = !product.negative; return collect(operand(e, 0), divides, product);
    case Op::Outer:
      product.column.push_back({operand(e, 0), divides});
      product.row.push_back({operand(e, 1), divides});
      return true;
    case Op::Broadcast: return collect_broadcast(e, divides, product);
    case Op::Where: return !divides && collect_where(e, product);
    default: return false;
  }
}

/// `x` times and divided by the factors.
Expr times(Expr x, const std::vector<Factor>& factors) {
  for (const Factor& factor : factors) {
    if (factor.divides) {
      x = x ? x / factor.value : 1.0 / factor.value;
    } else {
      x = x ? x * factor.value : factor.value;
    }
  }
  return x;
}

/// Sums over the steps and samples of `from`, with outer products as AccumulateOuter.
class Exposer {
 public:
  explicit Exposer(Domain from) : from_(from) {}

  /// The sum of a matrix; no Expr where it has no outer products.
  Expr exposed(Expr x) {
    if (x.shape().rank() != 2 || is_once(x)) return {};
    if (auto it = done_.find(x.id); it != done_.end()) return it->second;
    Expr result = find(x);
    done_.emplace(x.id, result);
    return result;
  }

 private:
  Expr find(Expr x) {
    switch (x.node().op) {
      case Op::Add:
      case Op::Sub: return of_sum(x);
      case Op::Concat: return of_concat(x);
      case Op::MatMul: return of_matmul(x);
      case Op::Transpose: {
        Expr inner = exposed(operand(x, 0));
        return inner ? transpose(inner) : Expr{};
      }
      case Op::Neg: {
        Expr inner = exposed(operand(x, 0));
        return inner ? -inner : Expr{};
      }
      default: break;
    }
    Product product;
    return collect(x, false, product) ? of_product(product) : Expr{};
  }

  Expr total(Expr x) {
    if (is_zero(x)) return x;
    Expr result = exposed(x);
    return result ? result : accumulate(x, Domain::Once, from_);
  }

  Expr of_product(const Product& product) const {
    if (product.column.empty() || product.row.empty()) return {};
    Expr column = times({}, product.column);
    Expr row = times({}, product.row);
    Expr& shorter = column.shape()[0].size <= row.shape()[0].size ? column : row;
    shorter = times(shorter, product.scalar);
    for (Expr condition : product.conditions) {
      column = where(condition, column, 0.0);
      row = where(condition, row, 0.0);
    }
    Expr sum = times(accumulate_outer(column, row, from_), product.once);
    return product.negative ? -sum : sum;
  }

  Expr of_concat(Expr x) {
    const int axis = x.node().axis;
    const std::vector<NodeId> parts = x.node().operands;
    bool some = false;
    std::vector<Expr> totals;
    for (NodeId id : parts) {
      some = some || exposed({x.graph, id});
      totals.push_back(total({x.graph, id}));
    }
    return some ? concat(totals, axis) : Expr{};
  }

  Expr of_sum(Expr x) {
    Expr a = operand(x, 0);
    Expr b = operand(x, 1);
    const bool difference = x.node().op == Op::Sub;
    if (!exposed(a) && !exposed(b)) return {};
    return difference ? total(a) - total(b) : total(a) + total(b);
  }

  Expr of_matmul(Expr x) {
    Expr a = operand(x, 0);
    Expr b = operand(x, 1);
    if (is_once(a)) return matmul(a, total(b));
    if (is_once(b)) return matmul(total(a), b);
    if (a.node().op == Op::Transpose) return accumulate_outer(operand(a, 0), b, from_);
    return accumulate_outer(transpose(a), b, from_);
  }

  Domain from_;
  std::unordered_map<NodeId, Expr> done_;
};

}  // namespace

Cell expose_outer_products(const Cell& cell) {
  return rewrite(cell, [](Graph& graph, const Node& node, NodeId) {
    if (node.op != Op::Accumulate || node.domain != Domain::Once) return kNoNode;
    Expr total = Exposer(summed_from(node)).exposed({&graph, node.operands[0]});
    return total ? total.id : kNoNode;
  });
}

}  // namespace cellfuse
