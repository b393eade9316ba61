#pragma once

#include "codegen/cuda/unit.h"
#include "codegen/cuda/writer.h"

namespace cellfuse::cuda {

/// The types that the kernels of a plan share: the number type, the mathematics, and the table that they are given.
void emit_table(const Unit& unit, Writer& out);

/// `input [time, batch, 4*H = 2048]`: what a buffer is, for a comment.
std::string describe(const Buffer& buffer);

}  // namespace cellfuse::cuda
