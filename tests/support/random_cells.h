#pragma once

#include <cstdint>

#include "ir/cell.h"

namespace cellfuse::testing {

/// A random valid cell: two or three states of rank 0 to 2, products with matrices, slices, concatenations, reductions,
/// running sums, branches, random masks. Values stay of moderate size. The same seed gives the same cell.
Cell random_cell(std::uint32_t seed);

}  // namespace cellfuse::testing
