#pragma once

#include <optional>

#include "ir/sequence.h"

namespace cellfuse {

/// Makes few large products with matrices out of many small ones, in the same phase and with no more arithmetic:
/// - a sum of products is one product, with operands side by side and matrices side by side: `U @ h + V @ c` (only in
///   the loop, where each call counts, or where the operands are computed anyway);
/// - products of the same operand are one product, with matrices on top of each other: `Ui @ h`, `Uf @ h`;
/// - sums over steps of outer products that share an operand are one, with the other operands side by side;
/// - sums over steps of values that lie side by side for such a product are one.
/// Afterwards the gates of a cell are one product.
Sequence combine_gemms(const Sequence& sequence);

/// The order in which operands are put side by side: params as they were declared, parts of one value as they lie in
/// it, so that those that belong together come back together; others in the order of the graph.
bool reads_before(const Graph& graph, NodeId a, NodeId b);

// The parts; nothing where there is nothing to combine.
std::optional<Cell> combine_sums(const Sequence& sequence);
std::optional<Cell> stack_rows(const Sequence& sequence);
std::optional<Cell> stack_outer_products(const Sequence& sequence);
std::optional<Cell> join_sums(const Sequence& sequence);

}  // namespace cellfuse
