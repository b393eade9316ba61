#include <map>

#include "ir/expr.h"
#include "passes/dependence.h"
#include "passes/rewrite.h"
#include "passes/split_time.h"

namespace cellfuse {

namespace {

int last_axis(const Shape& shape) { return shape.rank() - 1; }

/// The columns of a matrix that elements [begin, begin + extent) of the operand of a Linear meet.
Expr inner_part(Expr matrix, bool contract_rows, std::int64_t begin, const Extent& extent) {
  return slice(matrix, contract_rows ? 0 : 1, begin, extent);
}

/// The rows of a matrix that make elements [begin, begin + extent) of the result of a Linear.
Expr outer_part(Expr matrix, bool contract_rows, std::int64_t begin, const Extent& extent) {
  return slice(matrix, contract_rows ? 1 : 0, begin, extent);
}

class Divider {
 public:
  explicit Divider(const Cell& cell)
      : cell_(cell), dependence_(find_dependence(cell)), users_(cell.graph.size()), divided_(cell.graph.size()) {
    for (NodeId id = 0; id < cell.graph.size(); ++id) {
      if (!dependence_.live[id]) continue;
      for (NodeId operand : cell.graph[id].operands) users_[operand].push_back(id);
    }
    // A root reads the whole product.
    for (NodeId root : cell.roots()) users_[root].push_back(root);
    for (NodeId id = 0; id < cell.graph.size(); ++id) {
      if (dependence_.live[id] && cell.graph[id].op == Op::Linear) divided_[id] = slices_differ(id);
    }
  }

  /// A product for each slice.
  Cell divide_results() const {
    return prune(rewrite(cell_, [this](Graph& graph, const Node& node, NodeId id) {
      if (node.op != Op::Slice || !divided_[this->node(id).operands[0]]) return kNoNode;
      const Node product = graph[node.operands[0]];
      Expr matrix = outer_part({&graph, product.operands[1]}, product.flag, node.begin, node.shape[node.axis]);
      return linear({&graph, product.operands[0]}, matrix, product.flag).id;
    }));
  }

  /// A product for the parts of the operand that need a state, and one for the others.
  Cell divide_operands() const {
    return prune(rewrite(cell_, [this](Graph& graph, const Node& node, NodeId id) {
      if (node.op != Op::Linear || graph[node.operands[0]].op != Op::Concat) return kNoNode;
      return divide_operand(graph, node, this->node(id).operands[0]);
    }));
  }

 private:
  const Node& node(NodeId id) const { return cell_.graph[id]; }

  /// All users of a product are slices of its last axis, of which some feed a state and others do not.
  bool slices_differ(NodeId product) const {
    if (!dependence_.needs_state[product]) return false;
    const int last = last_axis(node(product).shape);
    bool feeds = false;
    bool feeds_none = false;
    std::int64_t total = 0;
    for (NodeId user : users_[product]) {
      const Node& slice = node(user);
      if (slice.op != Op::Slice || slice.axis != last) return false;
      (dependence_.feeds_state[user] ? feeds : feeds_none) = true;
      total += slice.end - slice.begin;
    }
    return feeds && feeds_none && total <= node(product).shape[last].size;
  }

  /// `old_concat` is the operand in the old graph, whose parts are known to need a state or not.
  NodeId divide_operand(Graph& graph, const Node& product, NodeId old_concat) const {
    const Node concat = graph[product.operands[0]];
    const Node& old = this->node(old_concat);
    if (old.op != Op::Concat || concat.axis != last_axis(concat.shape)) return kNoNode;
    std::map<bool, std::vector<Expr>> parts;
    std::map<bool, std::vector<Expr>> matrices;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < concat.operands.size(); ++i) {
      Expr part{&graph, concat.operands[i]};
      const Extent extent = part.shape()[concat.axis];
      bool needs_state = dependence_.needs_state[old.operands[i]];
      parts[needs_state].push_back(part);
      matrices[needs_state].push_back(inner_part({&graph, product.operands[1]}, product.flag, begin, extent));
      begin += extent.size;
    }
    if (parts.size() < 2) return kNoNode;
    auto product_of = [&](bool needs_state) {
      Expr matrix = cellfuse::concat(matrices[needs_state], product.flag ? 0 : 1);
      return linear(cellfuse::concat(parts[needs_state], concat.axis), matrix, product.flag);
    };
    return (product_of(false) + product_of(true)).id;
  }

  const Cell& cell_;
  Dependence dependence_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> divided_;
};

}  // namespace

Cell divide_products(const Cell& cell) { return Divider(Divider(cell).divide_results()).divide_operands(); }

}  // namespace cellfuse
