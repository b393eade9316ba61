#pragma once

#include <cstdint>
#include <vector>

namespace cellfuse {

/// Minimum cut between a source and a sink of a directed graph with capacities (Dinic's algorithm).
class MinCut {
 public:
  static constexpr std::int64_t kInfinite = INT64_MAX / 4;

  explicit MinCut(int nodes) : edges_of_(static_cast<std::size_t>(nodes)) {}

  void add_edge(int from, int to, std::int64_t capacity);

  /// For each node whether it is on the sink's side of the minimum cut closest to the sink.
  std::vector<bool> sink_side(int source, int sink);
  /// For each node whether it is on the source's side of the minimum cut closest to the source.
  std::vector<bool> source_side(int source, int sink);

 private:
  struct Edge {
    int to;
    std::int64_t left;  ///< capacity not used up; the edge at index ^ 1 goes the other way
  };

  void push_all(int source, int sink);
  /// Nodes on a path with capacity left from `start`, or to it when `against` the edges.
  std::vector<bool> connected(int start, bool against) const;
  bool find_levels(int source, int sink);
  void push_along_levels(int source, int sink);

  std::vector<Edge> edges_;
  std::vector<std::vector<int>> edges_of_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

}  // namespace cellfuse
