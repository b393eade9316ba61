#pragma once

#include "ir/cell.h"

namespace cellfuse {

/// Removes what matters to `differentiate` alone: with_grad, detach and clip_grad become the values they stand for.
Cell strip_annotations(const Cell& cell);

}  // namespace cellfuse
