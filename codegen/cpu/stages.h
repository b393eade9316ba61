#pragma once

#include <string>

#include "codegen/cpu/unit.h"

namespace cellfuse::cpu {

// Stages other than kernels, each as a function: `void(Frame*)`, or in a loop `void(Frame*, i64 step)`.

llvm::Function* emit_gemm(Unit& unit, const Gemm& gemm, const std::string& name, bool in_loop);
llvm::Function* emit_pack(Unit& unit, const Pack& pack, const std::string& name);

/// c[rows, n] (+)= a[rows, k] * panels: `void(a, i64 row bytes of a, panels, c, i64 row bytes of c, i64 rows)`, rows at
/// least 1. One function for each n, k, panel width and `accumulate` of a module.
llvm::Function* panel_product(Unit& unit, const Gemm& gemm);

}  // namespace cellfuse::cpu
