#pragma once

#include "codegen/cpu/unit.h"

namespace cellfuse::cpu {

/// What a byte, integer or floating-point element is in memory, and how it becomes a number of the compute type.
enum class Stored : std::uint8_t { Float16, BFloat16, Float32, Float64, Byte, Integer32 };

/// How the elements of a buffer are stored: flags of Live and Reset are bytes, StepIndex is an integer.
Stored stored_as(const Buffer& buffer);
std::int64_t bytes(Stored stored);
/// LLVM type of one element as it is loaded; 16-bit floats are integers until they are widened.
llvm::Type* raw_type(const Unit& unit, Stored stored);

/// From raw elements to the compute type; scalar or vector. A byte becomes 0 or 1.
llvm::Value* widen(const Unit& unit, Builder& builder, llvm::Value* raw, Stored stored);
/// From the compute type to raw elements, rounding to nearest even; NaN stays NaN.
llvm::Value* narrow(const Unit& unit, Builder& builder, llvm::Value* value, Stored stored);

/// One raw element, `lanes` neighbouring ones (those of `mask`, if not null; the others are 0), or those at `offsets`.
llvm::Value* load_one(const Unit& unit, Builder& builder, llvm::Value* pointer, Stored stored);
llvm::Value* load_vector(const Unit& unit, Builder& builder, llvm::Value* pointer, Stored stored, llvm::Value* mask);
llvm::Value* gather(const Unit& unit, Builder& builder, llvm::Value* base, llvm::Value* offsets, Stored stored,
                    llvm::Value* mask);
void store_one(const Unit& unit, Builder& builder, llvm::Value* raw, llvm::Value* pointer, Stored stored);
void store_vector(const Unit& unit, Builder& builder, llvm::Value* raw, llvm::Value* pointer, Stored stored,
                  llvm::Value* mask);
void scatter(const Unit& unit, Builder& builder, llvm::Value* raw, llvm::Value* base, llvm::Value* offsets,
             Stored stored, llvm::Value* mask);

/// A constant of the type of `like`, in every lane.
llvm::Constant* real_constant(llvm::Type* like, double value);
/// The integer type with as many lanes as `like`.
llvm::Type* integer_like(llvm::Type* like, unsigned bits);

}  // namespace cellfuse::cpu
