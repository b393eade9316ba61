#pragma once

#include <cstdint>
#include <string>

namespace cellfuse::testing {

/// A random valid cell as text, with dimensions I, H and K: every function of the language and every elementwise row of
/// the op table can occur, besides products, slices, loops, functions with a gradient of their own, random masks,
/// states of rank 0 to 2 and learned starts. Values stay of moderate size. The same seed gives the same text.
std::string random_cell_text(std::uint32_t seed);

}  // namespace cellfuse::testing
