#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ir/plan.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace cellfuse::cpu {

/// The processor that code is emitted for.
struct Machine {
  std::string triple;  ///< LLVM's names
  std::string cpu;
  std::string features;
  int vector_bytes = 64;  ///< 64, 32 or 16
  bool fused_multiply = true;
  bool half_conversion = true;  ///< float16 from and to float32 in hardware
  bool scalef = true;           ///< AVX-512: x * 2^n in one instruction
  /// Whether the vector mathematics library has a function, by its symbol (`_ZGVeN16v_sinf`).
  std::function<bool(const std::string& symbol)> has_function;
};

/// Names of the functions that a module defines for a plan: `NAME.once` and so on, each `void(Frame*)`.
inline constexpr const char* kEntries[] = {"once", "begin", "chunk", "end", "finish"};
std::string entry_name(const Plan& plan, const char* entry);

/// Metadata of a function: one string, what it does.
inline constexpr const char* kComment = "comment";

/// Emits the plan as a module: one function an entry, one for each kernel, GEMM shape and time loop. Deterministic.
/// Throws InternalError that names the kernel and the value where the plan breaks its rules.
std::unique_ptr<llvm::Module> emit(const Plan& plan, const Machine& machine, llvm::LLVMContext& context);

}  // namespace cellfuse::cpu
