#pragma once

#include <functional>
#include <vector>

#include "ir/cell.h"

namespace cellfuse {

/// Decides what becomes of one node when a graph is rebuilt. `node` is the old node with its operands replaced already
/// (they are ids of `target`), `id` its old id. Returns a node of `target` of the same shape, or kNoNode to copy `node`
/// as it is.
using Substitute = std::function<NodeId(Graph& target, const Node& node, NodeId id)>;

/// Rebuilds what `roots` need of `graph` in `target`, operands first, each node once, with its name and span. Returns
/// the new ids by old id, kNoNode where nothing needs the node.
std::vector<NodeId> rebuild(const Graph& graph, const std::vector<NodeId>& roots, Graph& target,
                            const Substitute& substitute);

/// Lets states, outputs and results of `cell` name nodes through `map`, by old id.
void map_roots(Cell& cell, const std::vector<NodeId>& map);

/// The cell with its graph rebuilt; nodes that nothing needs are gone.
Cell rewrite(const Cell& cell, const Substitute& substitute);

/// The cell without the nodes that nothing needs.
Cell prune(const Cell& cell);

}  // namespace cellfuse
