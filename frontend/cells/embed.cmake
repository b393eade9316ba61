# cmake -DOUTPUT=file.cpp "-DCELLS=a.cell;b.cell" -P embed.cmake

set(entries "")
foreach(path IN LISTS CELLS)
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} text)
  string(APPEND entries "    {\"${name}\", R\"cell(${text})cell\"},\n")
endforeach()
list(LENGTH CELLS count)

file(WRITE ${OUTPUT} "// Generated from the .cell files of frontend/cells.
#include \"frontend/cells/cells.h\"

#include <array>

namespace cellfuse {

std::span<const BuiltinCell> builtin_cells() {
  static constexpr std::array<BuiltinCell, ${count}> cells{{
${entries}  }};
  return cells;
}

}  // namespace cellfuse
")
