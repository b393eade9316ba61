#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr.h"

namespace cellfuse {

// The functions of the language that are made of other operations. Axes count from 0.

/// Puts an axis that a reduction dropped back: `reduced` along `axis` of `shape`, the same at each place.
Expr restore_axis(Expr reduced, const Shape& shape, int axis);
Expr mean(Expr x, int axis);
Expr softmax(Expr x, int axis);
/// 1 at the first largest element, else 0.
Expr argmax_onehot(Expr x, int axis);
/// Euclidean norm; its derivatives at 0 are 0.
Expr norm2(Expr x, int axis);
/// Ba et al. arXiv 1607.06450, biased variance, eps under the root.
Expr layer_norm(Expr x, std::optional<Expr> gain, std::optional<Expr> bias, double eps, int axis);
/// Zhang & Sennrich arXiv 1910.07467.
Expr rms_norm(Expr x, std::optional<Expr> gain, double eps, int axis);
/// Each element of the last axis n times.
Expr repeat(Expr x, const Extent& n);
/// The last axis n times over.
Expr tile(Expr x, const Extent& n);
Expr eye(Graph& graph, const Extent& n);

/// Inverted scaling in training, identity in inference. `site` numbers the call in the cell.
Expr dropout(Expr x, Operand p, bool shared, std::int32_t site);
/// Training: `old` with probability p; inference: the expectation.
Expr zoneout(Expr fresh, Expr old, Operand p, std::int32_t site);

}  // namespace cellfuse
