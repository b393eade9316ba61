#include "frontend/cells/cells.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

using namespace cellfuse;

TEST_CASE("every built-in cell is found by its name and defines a cell of that name") {
  REQUIRE(!builtin_cells().empty());
  for (const BuiltinCell& cell : builtin_cells()) {
    CAPTURE(cell.name);
    CHECK(find_builtin_cell(cell.name) == &cell);
    CHECK(cell.text.find("\ncell " + std::string(cell.name) + "(") != std::string_view::npos);
  }
  CHECK(std::ranges::is_sorted(builtin_cells(), {}, &BuiltinCell::name));
}

TEST_CASE("an unknown name finds nothing") {
  CHECK(find_builtin_cell("lstm ") == nullptr);
  CHECK(find_builtin_cell("") == nullptr);
}
