#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/lower.h"

namespace cellfuse {

/// A cell compiled for one binding of its dimensions. Immutable once made.
class Compilation {
 public:
  /// `options` are complete. Throws CompileError.
  Compilation(const Cell& cell, const CompileOptions& options, const Backend& backend, const Target& target,
              const Resources& resources);
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  const LoweredCell& lowered() const { return lowered_; }
  const Interface& interface() const { return interface_; }
  const GradientMap& gradients() const { return gradients_; }
  /// Throws UsageError when the program was not asked for.
  const LoweredProgram& program(ProgramKind kind) const;
  /// The same when it cannot run here.
  const LoadedPlan& loaded(ProgramKind kind) const;
  const std::vector<PassTime>& times() const { return times_; }
  bool uses_step_index(ProgramKind kind) const;
  bool has_resets() const { return has_resets_; }

 private:
  void load(const Backend& backend, const Resources& resources);

  bool has_resets_;
  LoweredCell lowered_;
  Interface interface_;
  GradientMap gradients_;
  std::string why_not_loaded_;
  std::unique_ptr<LoadedPlan> loaded_[3];
  std::vector<PassTime> times_;
};

/// Names, shapes and dtypes of a cell's tensors.
Interface describe(const Cell& cell, DType dtype);

}  // namespace cellfuse
