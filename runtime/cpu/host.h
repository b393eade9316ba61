#pragma once

#include "codegen/cpu/emit.h"

namespace cellfuse::cpu {

/// This processor, with vectors of at most `vector_bytes`; or, where it has no such vectors, a generic processor of
/// that width, for which code can be shown but not run.
Machine machine_for(int vector_bytes);
/// Widest vectors of this processor, in bytes.
int host_vector_bytes();
/// Address of a function of the vector mathematics library by its symbol; null where there is none.
void* vector_function(const std::string& symbol);

}  // namespace cellfuse::cpu
