#include "passes/simplify.h"

#include <set>

#include "ir/diagnostic.h"
#include "passes/rewrite.h"
#include "passes/simplify_rules.h"

namespace cellfuse {

namespace {

constexpr int kMaxRounds = 200;

/// Slices of one value, as far as they decide whether costly work is done slice by slice.
bool disjoint(const Graph& graph, const std::vector<NodeId>& slices, std::int64_t count) {
  std::int64_t total = 0;
  std::set<NodeId> distinct(slices.begin(), slices.end());
  for (NodeId id : distinct) total += graph[id].shape.count();
  return total <= count;
}

/// What the users of each node have in common.
class Uses {
 public:
  Uses(const Cell& cell, const std::vector<bool>& live) : cell_(cell), users_(cell.graph.size()) {
    for (NodeId id = 0; id < cell.graph.size(); ++id) {
      if (!live[id]) continue;
      for (NodeId operand : cell.graph[id].operands) users_[operand].push_back(id);
    }
    std::vector<NodeId> roots = cell.roots();
    roots_.insert(roots.begin(), roots.end());
  }

  bool only(NodeId id, Op op) const {
    if (roots_.contains(id)) return false;
    for (NodeId user : users_[id]) {
      if (cell_.graph[user].op != op) return false;
    }
    return !users_[id].empty();
  }

  bool sliced(NodeId id) const {
    return only(id, Op::Slice) && disjoint(cell_.graph, users_[id], cell_.graph[id].shape.count());
  }

 private:
  const Cell& cell_;
  std::vector<std::vector<NodeId>> users_;
  std::set<NodeId> roots_;
};

/// One walk from leaves to roots.
Cell apply_rules(const Cell& cell) {
  Uses uses(cell, reachable(cell.graph, cell.roots()));
  Simplifier simplify;
  return rewrite(cell, [&](Graph& graph, const Node& node, NodeId id) {
    NodeId simpler = simplify({&graph, graph.add(node)}).id;
    if (uses.sliced(id)) simplify.mark_sliced(simpler);
    if (uses.only(id, Op::Transpose)) simplify.mark_transposed(simpler);
    return simpler;
  });
}

/// The nodes that `roots` need, operands first and in the order in which a reader who starts at the roots meets them.
std::vector<NodeId> reading_order(const Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<NodeId> order;
  std::vector<bool> done(graph.size(), false);
  std::vector<std::pair<NodeId, std::size_t>> stack;  // a node and its next operand
  for (NodeId root : roots) {
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (done[id]) {
        stack.pop_back();
      } else if (next < graph[id].operands.size()) {
        const NodeId operand = graph[id].operands[next++];
        if (!done[operand]) stack.emplace_back(operand, 0);
      } else {
        done[id] = true;
        order.push_back(id);
        stack.pop_back();
      }
    }
  }
  return order;
}

/// The same cell with its values in reading order, so that the order in which rules made them leaves no trace.
Cell tidy(const Cell& cell) {
  Cell result = cell;
  result.graph = Graph();
  std::vector<NodeId> map(cell.graph.size(), kNoNode);
  for (NodeId id : reading_order(cell.graph, cell.roots())) {
    Node node = cell.graph[id];
    for (NodeId& operand : node.operands) operand = map[operand];
    map[id] = result.graph.add(std::move(node));
    if (!cell.graph.name(id).empty()) result.graph.set_name(map[id], cell.graph.name(id));
    if (const Span span = cell.graph.span(id)) result.graph.set_span(map[id], span);
  }
  map_roots(result, map);
  return result;
}

bool same_graph(const Cell& a, const Cell& b) {
  if (a.graph.size() != b.graph.size() || a.roots() != b.roots()) return false;
  for (NodeId id = 0; id < a.graph.size(); ++id) {
    if (!(a.graph[id] == b.graph[id])) return false;
  }
  return true;
}

}  // namespace

Expr Simplifier::operator()(Expr raw) {
  if (auto it = done_.find(raw.id); it != done_.end()) return {raw.graph, it->second};
  constexpr Expr (*kRules[])(Simplifier&, Expr) = {simplify_elementwise, simplify_algebra, simplify_slice,
                                                   simplify_concat,      simplify_view,    simplify_reduction,
                                                   simplify_contraction};
  if (depth_ == kMaxDepth) return raw;
  ++depth_;
  Expr result = raw;
  for (auto* rule : kRules) {
    if (Expr simpler = rule(*this, raw)) {
      result = simpler.id == raw.id ? simpler : (*this)(simpler);
      break;
    }
  }
  --depth_;
  done_.emplace(raw.id, result.id);
  return result;
}

Cell simplify(const Cell& cell) {
  Cell current = tidy(cell);
  for (int round = 0; round < kMaxRounds; ++round) {
    Cell next = tidy(apply_rules(current));
    if (same_graph(current, next)) return next;
    current = std::move(next);
  }
  throw InternalError("simplify", "no fixed point after " + std::to_string(kMaxRounds) + " rounds");
}

}  // namespace cellfuse
