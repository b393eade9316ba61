#pragma once

#include "ir/sequence.h"

namespace cellfuse {

/// Gives each value of a legal cell a place in time (see Sequence), after `divide_products`.
Sequence split_time(const Cell& cell);

/// Divides products with a matrix that would hold work in the loop: `W @ concat(x, h)` into the part that needs no
/// state and the rest, and a product of which a slice feeds no state into one for that slice and the rest.
Cell divide_products(const Cell& cell);

/// Leaves all work of a step in the loop, as an interpreter would: for comparison.
Sequence keep_in_loop(const Cell& cell);

/// The placement alone.
Sequence place_in_time(const Cell& cell);

}  // namespace cellfuse
