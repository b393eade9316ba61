#include "frontend/cells/cells.h"

#include <algorithm>

namespace cellfuse {

const BuiltinCell* find_builtin_cell(std::string_view name) {
  const auto cells = builtin_cells();
  const auto found = std::ranges::find(cells, name, &BuiltinCell::name);
  return found == cells.end() ? nullptr : &*found;
}

}  // namespace cellfuse
