#pragma once

#include <memory>
#include <string>

#include "codegen/cpu/frame.h"
#include "ir/plan.h"

namespace cellfuse::cpu {

/// Seconds that each part of a compilation took.
struct CompileTimes {
  double emit = 0;      ///< plan to LLVM IR
  double optimise = 0;  ///< LLVM passes
  double codegen = 0;   ///< LLVM IR to machine code, and linking
};

/// A plan as machine code of this process. Creation is safe from several threads; entries may be called from several
/// threads at once with a Frame each. Errors of LLVM are DeviceErrors with its text; IR that does not verify is an
/// InternalError.
class CompiledPlan {
 public:
  explicit CompiledPlan(const Plan& plan);
  CompiledPlan(CompiledPlan&& other) noexcept;
  CompiledPlan& operator=(CompiledPlan&& other) noexcept;
  ~CompiledPlan();

  /// The parts of the plan, in the order in which they run (see Plan). Never null.
  Entry once() const { return once_; }
  Entry begin() const { return begin_; }
  Entry chunk() const { return chunk_; }
  Entry end() const { return end_; }
  Entry finish() const { return finish_; }

  const CompileTimes& times() const { return times_; }
  std::int64_t code_bytes() const { return code_bytes_; }

 private:
  struct Code;
  std::unique_ptr<Code> code_;
  Entry once_ = nullptr;
  Entry begin_ = nullptr;
  Entry chunk_ = nullptr;
  Entry end_ = nullptr;
  Entry finish_ = nullptr;
  CompileTimes times_;
  std::int64_t code_bytes_ = 0;
};

/// The plan as optimised LLVM IR, and as assembly: what CompiledPlan would run where `plan.target.vector_bytes` fits
/// this processor; otherwise what a processor of that width would run.
std::string llvm_text(const Plan& plan);
std::string assembly_text(const Plan& plan);

/// This machine's processor: name `cpu`, vector width, threads, second-level cache. Rates keep their defaults.
Target host_target();

}  // namespace cellfuse::cpu
