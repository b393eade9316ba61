#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/cuda/emit.h"
#include "frontend/cli/case.h"
#include "ir/plan.h"

namespace cellfuse::emulation {

/// A plan with the kernels emitted for it.
struct EmittedProgram {
  Cell cell;  ///< what the plan computes
  Plan plan;
  cuda::CudaSource source;
};

/// The training programs of a cell for the target `emulated`.
struct EmittedCell {
  std::string name;
  DType dtype = DType::Float32;
  Case test;     ///< golden numbers
  Cell source;   ///< as the user wrote it
  Cell trained;  ///< what was differentiated: mode bound, with resets
  EmittedProgram forward;
  EmittedProgram backward;
};

/// A cell of the zoo and a dtype.
struct CellChoice {
  std::filesystem::path path;  ///< of the case
  DType dtype = DType::Float32;
};

/// Every cell in float32, a dozen in the other types.
std::vector<CellChoice> emulated_cells();

EmittedCell emit_cell(const CellChoice& choice);

}  // namespace cellfuse::emulation
