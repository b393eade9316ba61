#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/ops.h"
#include "ir/shape.h"
#include "ir/source.h"

namespace cellfuse {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

/// What a value depends on, and so how many of it a call has.
enum class Domain : std::uint8_t {
  Once,    ///< parameters only: one for the call
  Sample,  ///< one for each sample of the batch
  Step,    ///< one for each sample at each step
};

/// One operation of a graph. Immutable once added. The attributes an operation does not use keep their defaults.
struct Node {
  Op op = Op::Constant;
  Shape shape;
  Domain domain = Domain::Once;  ///< set by Graph::add, except for Accumulate and Random, which say it themselves
  std::vector<NodeId> operands;

  double value = 0;        ///< Constant
  std::int32_t index = 0;  ///< Input, State, Param, Initial, InitialGiven, Final, Random, Placeholder
  std::int8_t axis = 0;    ///< Iota, Slice, Concat, reductions, CumSum
  std::int64_t begin = 0;  ///< Slice; Random: 1 for one mask a batch; Accumulate, AccumulateOuter: `summed_from`
  std::int64_t end = 0;    ///< Slice
  std::array<std::int8_t, Shape::kMaxRank> axes{};  ///< Broadcast
  bool flag = false;                                ///< CumSum, Random, Linear

  /// Constants are compared by their bits: 0 and -0 differ, NaN equals itself.
  friend bool operator==(const Node& a, const Node& b);
};

/// Accumulate, AccumulateOuter: the domain whose steps and samples are summed over.
inline Domain summed_from(const Node& node) { return static_cast<Domain>(node.begin); }

/// A graph in single static assignment: operands come before their users, equal nodes are one node. Copyable.
class Graph {
 public:
  /// Adds a node, or returns the equal one that is there. Operands must have been added before.
  NodeId add(Node node);

  const Node& operator[](NodeId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }

  /// The user's name of a value (`forget_gate`); the first one given stays. Empty where there is none.
  void set_name(NodeId id, const std::string& name);
  const std::string& name(NodeId id) const;
  void set_span(NodeId id, const Span& span);
  Span span(NodeId id) const;

 private:
  std::deque<Node> nodes_;  // a node stays where it is when others are added
  std::unordered_multimap<std::size_t, NodeId> index_;
  std::unordered_map<NodeId, std::string> names_;
  std::unordered_map<NodeId, Span> spans_;
};

/// Marks every node that `roots` depend on; index = NodeId.
std::vector<bool> reachable(const Graph& graph, const std::vector<NodeId>& roots);
/// Number of operands that name each node, counting only users marked in `live`.
std::vector<int> use_counts(const Graph& graph, const std::vector<bool>& live);

/// The Placeholders, by index and sorted, that each node reads and that no WithGrad at or below it has bound; index =
/// NodeId.
std::vector<std::vector<std::int32_t>> open_placeholders(const Graph& graph);

}  // namespace cellfuse
