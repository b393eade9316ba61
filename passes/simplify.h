#pragma once

#include "ir/cell.h"

namespace cellfuse {

/// Rewrites a cell into an equal one with less work, until nothing changes:
/// - constants are folded in float64, and algebra that keeps float results is applied (`x * 1`, `x + 0`, `x ^ 2`; never
///   `x * 0`, which is NaN for some x, and no sum or product changes its order);
/// - slices sink through elementwise work to leaves and GEMM results, so that the gates of `i, f = split(W @ x + b, 2)`
///   are computed one by one; broadcasts rise, so that work is done before a value is spread; views of views merge;
/// - sums of zero-padded parts become one concatenation;
/// - equal values are one value, and values that nothing needs disappear.
Cell simplify(const Cell& cell);

}  // namespace cellfuse
