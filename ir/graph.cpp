#include "ir/graph.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

void mix(std::size_t& seed, std::uint64_t value) {
  seed ^= static_cast<std::size_t>(value + 0x9e3779b97f4a7c15ULL + (seed << 6U) + (seed >> 2U));
}

std::size_t hash_of(const Node& node) {
  std::size_t seed = static_cast<std::size_t>(node.op);
  for (int i = 0; i < node.shape.rank(); ++i) mix(seed, static_cast<std::uint64_t>(node.shape[i].size));
  mix(seed, static_cast<std::uint64_t>(node.domain));
  for (NodeId operand : node.operands) mix(seed, operand);
  mix(seed, std::bit_cast<std::uint64_t>(node.value));
  mix(seed, static_cast<std::uint64_t>(node.index));
  mix(seed, static_cast<std::uint64_t>(node.axis));
  mix(seed, static_cast<std::uint64_t>(node.begin));
  mix(seed, static_cast<std::uint64_t>(node.end));
  for (std::int8_t axis : node.axes) mix(seed, static_cast<std::uint64_t>(axis));
  mix(seed, static_cast<std::uint64_t>(node.flag));
  return seed;
}

bool chooses_domain(Op op) { return op == Op::Random || op == Op::Accumulate || op == Op::AccumulateOuter; }

Domain leaf_domain(Op op) {
  switch (op) {
    case Op::Input:
    case Op::State:
    case Op::StepIndex: return Domain::Step;
    case Op::Initial:
    case Op::Final: return Domain::Sample;
    default: return Domain::Once;
  }
}

const std::string kNoName;

}  // namespace

bool operator==(const Node& a, const Node& b) {
  return a.op == b.op && a.shape == b.shape && a.domain == b.domain && a.operands == b.operands &&
         std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value) && a.index == b.index &&
         a.axis == b.axis && a.begin == b.begin && a.end == b.end && a.axes == b.axes && a.flag == b.flag;
}

NodeId Graph::add(Node node) {
  for (NodeId operand : node.operands)
    check_internal(operand < nodes_.size(), "Graph::add", "operand not in the graph");
  if (!chooses_domain(node.op)) {
    node.domain = leaf_domain(node.op);
    for (NodeId operand : node.operands) node.domain = std::max(node.domain, nodes_[operand].domain);
  }
  std::size_t hash = hash_of(node);
  auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (nodes_[it->second] == node) return it->second;
  }
  auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(std::move(node));
  index_.emplace(hash, id);
  return id;
}

void Graph::set_name(NodeId id, const std::string& name) { names_.try_emplace(id, name); }

const std::string& Graph::name(NodeId id) const {
  auto it = names_.find(id);
  return it == names_.end() ? kNoName : it->second;
}

void Graph::set_span(NodeId id, const Span& span) { spans_.try_emplace(id, span); }

Span Graph::span(NodeId id) const {
  auto it = spans_.find(id);
  return it == spans_.end() ? Span{} : it->second;
}

std::vector<bool> reachable(const Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<bool> live(graph.size(), false);
  for (NodeId root : roots) {
    if (root != kNoNode) live[root] = true;
  }
  for (std::size_t id = graph.size(); id-- > 0;) {
    if (!live[id]) continue;
    for (NodeId operand : graph[static_cast<NodeId>(id)].operands) live[operand] = true;
  }
  return live;
}

std::vector<int> use_counts(const Graph& graph, const std::vector<bool>& live) {
  std::vector<int> counts(graph.size(), 0);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!live[id]) continue;
    for (NodeId operand : graph[id].operands) ++counts[operand];
  }
  return counts;
}

std::vector<std::vector<std::int32_t>> open_placeholders(const Graph& graph) {
  std::vector<std::vector<std::int32_t>> result(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    std::vector<std::int32_t>& open = result[id];
    if (node.op == Op::Placeholder) open.push_back(node.index);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const bool gradient = node.op == Op::WithGrad && i > node.operands.size() / 2;
      for (std::int32_t index : result[node.operands[i]]) {
        if (!gradient || index != node.index) open.push_back(index);
      }
    }
    std::ranges::sort(open);
    const auto repeated = std::ranges::unique(open);
    open.erase(repeated.begin(), repeated.end());
  }
  return result;
}

}  // namespace cellfuse
