#pragma once

#include "codegen/cuda/unit.h"
#include "codegen/cuda/writer.h"

namespace cellfuse::cuda {

/// A kernel that copies a matrix into another layout.
Launch emit_pack(const Unit& unit, const Pack& pack, Writer& out);

/// A kernel that adds up the slots of an accumulator.
Launch emit_add_up(const Unit& unit, int accumulator, Writer& out);

}  // namespace cellfuse::cuda
