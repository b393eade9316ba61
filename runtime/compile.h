#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/cell.h"
#include "ir/dim.h"
#include "ir/dtype.h"
#include "passes/choose_saved.h"
#include "passes/pass_manager.h"
#include "runtime/executable.h"

namespace cellfuse {

/// Values of the real constants of a cell, by name.
using ConstantBinding = std::map<std::string, double>;

/// A cell that may have open dimensions and constants: what the language and the builder make.
struct CellTemplate {
  struct Declared {
    std::string name;
    std::vector<Dim> shape;
  };

  CellTemplate() = default;
  /// A cell without open dimensions.
  CellTemplate(Cell cell);  // NOLINT(google-explicit-constructor)

  std::string name;
  std::vector<std::string> dims;
  std::vector<std::string> constants;
  DimBinding default_dims;
  std::vector<Declared> inputs;
  std::vector<Declared> params;
  std::vector<Declared> states;
  /// The cell for these values. Throws CompileError.
  std::function<Cell(const DimBinding& dims, const ConstantBinding& constants)> build;
};

struct CompileOptions {
  DimBinding dims = {};            ///< those not given stay open until the first call
  ConstantBinding constants = {};  ///< those not given have their defaults
  DType dtype = DType::Float32;
  bool inference = true;      ///< compile the program of `forward`
  bool training = true;       ///< compile those of `forward_training` and `backward`
  bool generate_code = true;  ///< off: the program can be looked at but not run
  bool resets = true;         ///< calls may reset states in mid-sequence
  /// Params, inputs and states whose gradients `backward` computes; std::nullopt: all.
  std::optional<std::vector<std::string>> gradients = {};
  MemoryMode memory = MemoryMode::Balanced;
  std::string device = "cpu";
  std::string target = {};           ///< what to plan for; default: the device. A program for another machine can be
                                     ///< looked at but not run
  int threads = 0;                   ///< 0: $CELLFUSE_THREADS, else one for each core this process may use
  std::int64_t workspace_limit = 0;  ///< bytes; 0: $CELLFUSE_WORKSPACE_MB, else 256 MB. Work outside the loop is done
                                     ///< in chunks of time within it
  bool precise = false;              ///< no approximate activations or 16-bit sums, in no dtype

  // Off: what each is worth.
  bool fusion = true;
  bool hoisting = true;
  bool gemm_combining = true;
  bool layout = true;

  /// Looking at the passes. Where `print_after` and the like are empty: $CELLFUSE_PRINT_AFTER, $CELLFUSE_REPRODUCER;
  /// text goes to stderr unless `print` is set.
  PassManagerOptions debugging = {};
};

/// All four ablation switches off: one kernel an operation, the way frameworks run by default.
CompileOptions unfused(CompileOptions options);

/// Compiles a cell, or leaves that to the first call where dimensions stay open. Throws CompileError for mistakes in
/// the cell or the options.
Executable compile(CellTemplate cell, const CompileOptions& options = {});

}  // namespace cellfuse
