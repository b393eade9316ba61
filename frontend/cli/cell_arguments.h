#pragma once

#include <string>
#include <vector>

#include "frontend/cli/session.h"
#include "runtime/compile.h"

namespace cellfuse::cli {

/// The arguments of every subcommand that compiles a cell.
struct CellArguments {
  std::string cell;                   ///< FILE[:CELL]
  std::vector<std::string> bindings;  ///< of `-D NAME=VALUE`
  std::string dtype = "float32";
  std::string memory = "balanced";
  std::string device = "cpu";
  std::string target;
  int threads = 0;
  std::int64_t workspace_mb = 0;
  bool precise = false;
  bool no_resets = false;
  bool no_fusion = false;
  bool no_hoisting = false;
  bool no_gemm_combining = false;
  bool no_layout = false;
  std::string print_after;
  bool print_changed = false;
  bool verify_passes = false;
  bool time_passes = false;
  std::string reproducer;
  bool json = false;

  DimBinding dims;  ///< of the bindings, set by `load`
  ConstantBinding constants;

  /// `with_dtype`: whether the user chooses it.
  void add_to(CLI::App& app, bool with_dtype = true);

  /// The cell; reads the bindings. Throws CompileError.
  CellTemplate load();
  /// In which all dimensions have values. Throws CompileError that names those that do not.
  CompileOptions options(const CellTemplate& cell) const;
};

}  // namespace cellfuse::cli
