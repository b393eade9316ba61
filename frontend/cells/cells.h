#pragma once

#include <span>
#include <string_view>

namespace cellfuse {

/// A ready cell that is part of the library.
struct BuiltinCell {
  std::string_view name;  ///< Name of the cell and of its file without `.cell`: `lstm`.
  std::string_view text;  ///< The whole file, in the cell language.
};

/// All ready cells, in alphabetical order.
std::span<const BuiltinCell> builtin_cells();

/// The ready cell of this name, or null when there is none.
const BuiltinCell* find_builtin_cell(std::string_view name);

}  // namespace cellfuse
