#include <algorithm>
#include <map>
#include <tuple>

#include "ir/expr.h"
#include "passes/combine_gemms.h"
#include "passes/rewrite.h"

namespace cellfuse {

namespace {

bool is_additive(Op op) { return op == Op::Add || op == Op::Sub || op == Op::Neg; }

/// A product, or a slice of it along its last axis, as a term of a sum.
struct Use {
  NodeId sum;  ///< its root
  std::int64_t begin;
  std::int64_t end;
  bool negative;
  friend auto operator<=>(const Use&, const Use&) = default;
};

class SumCombiner {
 public:
  explicit SumCombiner(const Sequence& sequence)
      : sequence_(sequence),
        cell_(sequence.cell),
        graph_(cell_.graph),
        live_(reachable(graph_, cell_.roots())),
        counts_(use_counts(graph_, live_)) {
    for (NodeId root : cell_.roots()) ++counts_[root];
  }

  std::optional<Cell> run() {
    find_uses();
    find_levels();
    find_groups();
    if (group_of_.empty()) return std::nullopt;
    return prune(replace());
  }

 private:
  bool is_product(NodeId id) const { return graph_[id].op == Op::Linear && graph_[id].domain == Domain::Step; }
  bool is_inner(NodeId id) const { return is_additive(graph_[id].op) && counts_[id] == 1; }

  void find_uses();
  void gather(NodeId root, NodeId id, bool negative);
  void find_groups();
  void find_levels();
  bool is_better_stacked(NodeId id, const std::vector<NodeId>& group) const;
  bool is_worthwhile(const std::vector<NodeId>& group) const;
  Cell replace() const;
  Expr combined(Graph& graph, const std::vector<NodeId>& group, const std::map<NodeId, Node>& members,
                NodeId last) const;

  const Sequence& sequence_;
  const Cell& cell_;
  const Graph& graph_;
  std::vector<bool> live_;
  std::vector<int> counts_;                  ///< readers, by node
  std::vector<int> levels_;                  ///< by node
  std::map<NodeId, std::vector<Use>> uses_;  ///< by product
  std::map<NodeId, int> seen_;               ///< readers that are sums, by product and slice of a product
  std::vector<std::vector<NodeId>> groups_;
  std::map<NodeId, std::size_t> group_of_;
};

/// The terms of the sum `root` in the tree below `id`.
void SumCombiner::gather(NodeId root, NodeId id, bool negative) {
  std::vector<std::pair<NodeId, bool>> stack{{id, negative}};
  while (!stack.empty()) {
    auto [at, minus] = stack.back();
    stack.pop_back();
    const Node& node = graph_[at];
    if (at == root || is_inner(at)) {
      stack.emplace_back(node.operands[0], node.op == Op::Neg ? !minus : minus);
      if (node.op != Op::Neg) stack.emplace_back(node.operands[1], node.op == Op::Sub ? !minus : minus);
      continue;
    }
    const int last = node.shape.rank() - 1;
    if (is_product(at)) {
      ++seen_[at];
      uses_[at].push_back({root, 0, node.shape[last].size, minus});
    } else if (node.op == Op::Slice && node.axis == last && is_product(node.operands[0])) {
      ++seen_[at];
      uses_[node.operands[0]].push_back({root, node.begin, node.end, minus});
    }
  }
}

void SumCombiner::find_uses() {
  std::vector<bool> inner(graph_.size(), false);
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live_[id] || !is_additive(graph_[id].op)) continue;
    for (NodeId operand : graph_[id].operands) inner[operand] = inner[operand] || is_inner(operand);
  }
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (live_[id] && is_additive(graph_[id].op) && !inner[id] && graph_[id].domain == Domain::Step)
      gather(id, id, false);
  }
  // A product that anything but sums reads is on its own.
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live_[id] || graph_[id].op != Op::Slice || seen_[id] == 0) continue;
    if (seen_[id] == counts_[id]) ++seen_[graph_[id].operands[0]];
  }
  std::erase_if(uses_, [this](const auto& entry) { return seen_[entry.first] != counts_[entry.first]; });
}

void SumCombiner::find_groups() {
  using Key = std::tuple<Phase, int, std::vector<std::int64_t>, std::vector<Use>>;
  std::map<Key, std::vector<NodeId>> by_key;
  for (auto& [id, uses] : uses_) {
    std::sort(uses.begin(), uses.end());
    // Signs count relative to the first: a matrix may be negated.
    std::vector<Use> relative = uses;
    for (Use& use : relative) use.negative = use.negative != uses.front().negative;
    std::vector<std::int64_t> shape;
    for (int axis = 0; axis < graph_[id].shape.rank(); ++axis) shape.push_back(graph_[id].shape[axis].size);
    const Placement& place = sequence_.placement[id];
    by_key[{place.phase, place.loop, shape, relative}].push_back(id);
  }
  for (auto& [key, group] : by_key) {
    std::erase_if(group, [this, all = group](NodeId id) { return is_better_stacked(id, all); });
    if (group.size() < 2 || !is_worthwhile(group)) continue;
    // As sums of outer products put the same operands side by side.
    std::stable_sort(group.begin(), group.end(), [this](NodeId a, NodeId b) {
      return reads_before(graph_, graph_[a].operands[0], graph_[b].operands[0]);
    });
    for (NodeId id : group) group_of_[id] = groups_.size();
    groups_.push_back(group);
  }
}

/// A product whose operand is ready before that of others in the group does not wait for them when it can be one with
/// another product of its operand.
bool SumCombiner::is_better_stacked(NodeId id, const std::vector<NodeId>& group) const {
  auto level = [this](NodeId product) { return levels_[graph_[product].operands[0]]; };
  if (std::all_of(group.begin(), group.end(), [&](NodeId other) { return level(other) <= level(id); })) return false;
  for (NodeId other = 0; other < graph_.size(); ++other) {
    const bool same_operand = live_[other] && is_product(other) && graph_[other].operands[0] == graph_[id].operands[0];
    const bool same_phase = sequence_.placement[other].phase == sequence_.placement[id].phase;
    if (same_operand && same_phase && other != id) return true;
  }
  return false;
}

/// How many products, one after the other, a value waits for.
void SumCombiner::find_levels() {
  levels_.assign(graph_.size(), 0);
  for (NodeId id = 0; id < graph_.size(); ++id) {
    for (NodeId operand : graph_[id].operands) levels_[id] = std::max(levels_[id], levels_[operand]);
    if (is_product(id)) ++levels_[id];
  }
}

/// Outside the loop two large products cost what one does, unless an operand had to be copied.
bool SumCombiner::is_worthwhile(const std::vector<NodeId>& group) const {
  if (sequence_.placement[group.front()].phase == Phase::Step) return true;
  return std::all_of(group.begin(), group.end(),
                     [this](NodeId id) { return !is_leaf(graph_[viewed_value(graph_, graph_[id].operands[0])].op); });
}

/// `members` are nodes of the new graph.
Expr SumCombiner::combined(Graph& graph, const std::vector<NodeId>& group, const std::map<NodeId, Node>& members,
                           NodeId last) const {
  const bool contract_rows = members.at(last).flag;
  const bool negative = uses_.at(last).front().negative;
  std::vector<Expr> operands;
  std::vector<Expr> matrices;
  for (NodeId id : group) {
    const Node& member = members.at(id);
    operands.push_back({&graph, member.operands[0]});
    Expr matrix{&graph, member.operands[1]};
    if (member.flag != contract_rows) matrix = transpose(matrix);
    if (uses_.at(id).front().negative != negative) matrix = -matrix;
    matrices.push_back(matrix);
  }
  Expr operand = concat(operands, operands[0].shape().rank() - 1);
  return linear(operand, concat(matrices, contract_rows ? 0 : 1), contract_rows);
}

/// The last product of a group becomes the whole, the others nothing.
Cell SumCombiner::replace() const {
  std::vector<std::map<NodeId, Node>> met(groups_.size());
  return rewrite(cell_, [&](Graph& graph, const Node& node, NodeId id) {
    auto it = group_of_.find(id);
    if (it == group_of_.end()) return kNoNode;
    const std::vector<NodeId>& group = groups_[it->second];
    std::map<NodeId, Node>& members = met[it->second];
    members.emplace(id, node);
    const bool last = members.size() == group.size();
    return last ? combined(graph, group, members, id).id : constant(graph, 0.0, node.shape).id;
  });
}

}  // namespace

std::optional<Cell> combine_sums(const Sequence& sequence) { return SumCombiner(sequence).run(); }

}  // namespace cellfuse
