#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "passes/choose_saved.h"
#include "passes/gemm_costs.h"
#include "passes/pass_manager.h"
#include "passes/plan_options.h"

namespace cellfuse {

struct PipelineOptions {
  bool inference = true;       ///< make the program `inference`
  bool training = true;        ///< make the programs `forward` and `backward`
  bool resets = true;          ///< the states can be reset in mid-sequence
  bool hoisting = true;        ///< off: all work of a step stays in the loop, products with matrices too
  bool gemm_combining = true;  ///< off: one product for each one in the cell
  MemoryMode memory = MemoryMode::Balanced;
  PlanOptions plan;
  /// What products cost; null: by the model of the target.
  const GemmCosts* gemm_costs = nullptr;
  /// Takes the gradients that nobody wants out of a derivative; all are kept when empty.
  std::function<void(const Cell& forward, Cell& derivative)> select_gradients;
};

/// The programs made of one cell.
struct ProgramSet {
  PipelineOptions options;
  std::vector<Program> programs;
  std::vector<SavedValue> saved;
  std::vector<RecomputedValue> recomputed;

  /// Null when it is not there.
  Program* find(std::string_view name);
  const Program* find(std::string_view name) const;
};

/// One row of the pipeline: a pass on each program by itself, or one on all of them.
struct PipelineRow {
  std::string_view name;
  std::string_view duty;
  void (*each)(Program& program, const PipelineOptions& options);
  void (*joint)(ProgramSet& programs);
};

/// All passes in order.
std::span<const PipelineRow> pipeline();

/// Runs all rows up to `last` (a name; the last row of that name), or all of them when it is empty. Throws CompileError
/// for mistakes of the user, InternalError for ours.
ProgramSet run_pipeline(const Cell& cell, const PipelineOptions& options, PassManager& manager,
                        std::string_view last = {});

}  // namespace cellfuse
