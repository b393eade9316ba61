#include "passes/min_cut.h"

#include <algorithm>

namespace cellfuse {

void MinCut::add_edge(int from, int to, std::int64_t capacity) {
  edges_of_[static_cast<std::size_t>(from)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, capacity});
  edges_of_[static_cast<std::size_t>(to)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

bool MinCut::find_levels(int source, int sink) {
  level_.assign(edges_of_.size(), -1);
  level_[static_cast<std::size_t>(source)] = 0;
  std::vector<int> queue{source};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto node = static_cast<std::size_t>(queue[i]);
    for (int index : edges_of_[node]) {
      const Edge& edge = edges_[static_cast<std::size_t>(index)];
      const auto to = static_cast<std::size_t>(edge.to);
      if (edge.left == 0 || level_[to] >= 0) continue;
      level_[to] = level_[node] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[static_cast<std::size_t>(sink)] >= 0;
}

void MinCut::push_along_levels(int source, int sink) {
  std::vector<int> path;  // edges
  int node = source;
  while (true) {
    if (node == sink) {
      std::int64_t amount = kInfinite;
      for (int index : path) amount = std::min(amount, edges_[static_cast<std::size_t>(index)].left);
      for (int index : path) {
        edges_[static_cast<std::size_t>(index)].left -= amount;
        edges_[static_cast<std::size_t>(index) ^ 1U].left += amount;
      }
      path.clear();
      node = source;
      continue;
    }
    const auto at = static_cast<std::size_t>(node);
    bool forward = false;
    for (std::size_t& i = next_[at]; i < edges_of_[at].size(); ++i) {
      const int index = edges_of_[at][i];
      const Edge& edge = edges_[static_cast<std::size_t>(index)];
      if (edge.left == 0 || level_[static_cast<std::size_t>(edge.to)] != level_[at] + 1) continue;
      path.push_back(index);
      node = edge.to;
      forward = true;
      break;
    }
    if (forward) continue;
    if (path.empty()) return;
    // A dead end: leave the edge that led here.
    node = edges_[static_cast<std::size_t>(path.back()) ^ 1U].to;
    ++next_[static_cast<std::size_t>(node)];
    path.pop_back();
  }
}

void MinCut::push_all(int source, int sink) {
  while (find_levels(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    push_along_levels(source, sink);
  }
}

std::vector<bool> MinCut::connected(int start, bool against) const {
  std::vector<bool> reached(edges_of_.size(), false);
  reached[static_cast<std::size_t>(start)] = true;
  std::vector<int> queue{start};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (int index : edges_of_[static_cast<std::size_t>(queue[i])]) {
      const auto edge = static_cast<std::size_t>(index);
      const int to = edges_[edge].to;
      if (edges_[against ? edge ^ 1U : edge].left == 0 || reached[static_cast<std::size_t>(to)]) continue;
      reached[static_cast<std::size_t>(to)] = true;
      queue.push_back(to);
    }
  }
  return reached;
}

std::vector<bool> MinCut::sink_side(int source, int sink) {
  push_all(source, sink);
  return connected(sink, true);
}

std::vector<bool> MinCut::source_side(int source, int sink) {
  push_all(source, sink);
  return connected(source, false);
}

}  // namespace cellfuse
