#pragma once

#include "ir/cell.h"

namespace cellfuse {

/// Leaves only what the lower levels know: elementwise primitives, views, reductions, Linear, Accumulate and
/// AccumulateOuter.
/// - Elementwise operations with an expansion are expanded.
/// - A product with a matrix shared by the batch is a Linear; a product with a matrix of the sample's own is a
/// broadcast,
///   a multiplication and a sum.
/// - A sum over steps and samples of outer products is an AccumulateOuter; factors that depend on parameters only are
///   multiplied in afterwards where that exposes one.
Cell legalise(const Cell& cell);

/// The part of `legalise` that finds outer products under an Accumulate.
Cell expose_outer_products(const Cell& cell);

/// Throws InternalError that names the first node that `legalise` leaves none of.
void verify_legal(const Cell& cell);

}  // namespace cellfuse
