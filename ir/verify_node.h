#pragma once

#include "ir/graph.h"

namespace cellfuse {

/// Checks one node of a graph by itself: number, shapes and domains of its operands, axes and ranges against its own
/// shape. Throws InternalError, in the name of `where`, that shows the node.
void verify_node(const Graph& graph, NodeId id, const char* where);

/// `%12 = matmul([4*H, H], [H]) : [4*H]`, with the user's name where there is one; for messages about our own mistakes.
std::string describe_node(const Graph& graph, NodeId id);

}  // namespace cellfuse
