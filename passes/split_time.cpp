#include "passes/split_time.h"

#include "passes/simplify.h"

namespace cellfuse {

Sequence split_time(const Cell& cell) { return place_in_time(simplify(divide_products(cell))); }

}  // namespace cellfuse
