#include "passes/bind_mode.h"

#include "passes/rewrite.h"

namespace cellfuse {

Cell bind_mode(const Cell& cell, bool training) {
  return rewrite(cell, [training](Graph& target, const Node& node, NodeId) {
    return node.op == Op::Training ? constant(target, training ? 1.0 : 0.0).id : kNoNode;
  });
}

}  // namespace cellfuse
