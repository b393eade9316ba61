#pragma once

#include "ir/cell.h"

namespace cellfuse {

/// Settles what `Training` leaves are: 1 for training, 0 for inference.
Cell bind_mode(const Cell& cell, bool training);

}  // namespace cellfuse
