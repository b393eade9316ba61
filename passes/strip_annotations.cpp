#include "passes/strip_annotations.h"

#include "passes/rewrite.h"

namespace cellfuse {

Cell strip_annotations(const Cell& cell) {
  return prune(rewrite(cell, [](Graph&, const Node& node, NodeId) {
    const bool annotation = node.op == Op::WithGrad || node.op == Op::Detach || node.op == Op::ClipGrad;
    return annotation ? node.operands[0] : kNoNode;
  }));
}

}  // namespace cellfuse
