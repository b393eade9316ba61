#pragma once

#include <span>
#include <string_view>

#include "codegen/cpu/unit.h"

namespace cellfuse::cpu {

/// A mathematical function of the compute type, by the name after `math.` in the op table; arguments are scalars, or
/// vectors of Unit::lanes.
///
/// float32: exp, log, tanh and sigmoid are emitted in place, within 4 units in the last place for every argument; other
/// functions, and all of float64, are calls of the vector mathematics library where the machine has it (each within 4
/// units), of the C library for each lane otherwise.
llvm::Value* emit_math(const Unit& unit, Builder& builder, std::string_view function,
                       std::span<llvm::Value* const> arguments);

/// float32 exp, log, tanh and the logistic function, in place.
llvm::Value* emit_exp_float32(const Unit& unit, Builder& builder, llvm::Value* x);
llvm::Value* emit_log_float32(const Unit& unit, Builder& builder, llvm::Value* x);
llvm::Value* emit_tanh_float32(const Unit& unit, Builder& builder, llvm::Value* x);
llvm::Value* emit_sigmoid_float32(const Unit& unit, Builder& builder, llvm::Value* x);

/// The smaller and the larger, NaN where one of them is.
llvm::Value* emit_minimum(Builder& builder, llvm::Value* a, llvm::Value* b);
llvm::Value* emit_maximum(Builder& builder, llvm::Value* a, llvm::Value* b);

}  // namespace cellfuse::cpu
