#include "ir/cell.h"

namespace cellfuse {

std::vector<NodeId> Cell::roots() const {
  std::vector<NodeId> ids;
  for (const CellState& state : states) {
    ids.push_back(state.start);
    ids.push_back(state.next);
  }
  for (const CellOutput& output : outputs) ids.push_back(output.node);
  for (const CellResult& result : results) ids.push_back(result.node);
  return ids;
}

}  // namespace cellfuse
