#include "frontend/cli/cell_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/cellfuse.h"
#include "frontend/cli/load_cell.h"
#include "ir/diagnostic.h"

namespace cellfuse::cli {

namespace {

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size() && !text.empty()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void check_complete(const CellTemplate& cell, const CompileOptions& options) {
  std::vector<std::string> missing;
  for (const std::string& dim : cell.dims) {
    if (!options.dims.contains(dim) && !cell.default_dims.contains(dim)) missing.push_back(dim);
  }
  if (missing.empty()) return;
  std::vector<std::string> flags;
  for (const std::string& dim : missing) flags.push_back(fmt::format("-D {}=…", dim));
  throw CompileError(fmt::format("cell `{}` needs a value for {}", cell.name, fmt::join(missing, ", ")),
                     fmt::format("add {}", fmt::join(flags, " ")));
}

void add_debugging(CLI::App& app, CellArguments& arguments) {
  constexpr const char* kGroup = "Looking at the compiler";
  app.add_option("--print-after", arguments.print_after, "Print the program after these passes (a,b or all), to stderr")
      ->group(kGroup);
  app.add_flag("--print-changed", arguments.print_changed, "Print it after each pass that changed something")
      ->group(kGroup);
  app.add_flag("--time-passes", arguments.time_passes, "Print how long each pass took")->group(kGroup);
  app.add_flag("--verify-passes", arguments.verify_passes, "Verify the program after each pass")->group(kGroup);
  app.add_option("--reproducer", arguments.reproducer, "Folder where a failing pass leaves its input")->group(kGroup);
}

void add_ablations(CLI::App& app, CellArguments& arguments) {
  constexpr const char* kGroup = "Switching optimisations off";
  app.add_flag("--no-fusion", arguments.no_fusion, "One kernel an operation")->group(kGroup);
  app.add_flag("--no-hoisting", arguments.no_hoisting, "All work of a step stays in the loop")->group(kGroup);
  app.add_flag("--no-gemm-combining", arguments.no_gemm_combining, "One GEMM for each product in the cell")
      ->group(kGroup);
  app.add_flag("--no-layout", arguments.no_layout, "Matrices stay as the caller stores them")->group(kGroup);
  app.add_flag("--no-resets", arguments.no_resets, "Calls cannot reset states in mid-sequence")->group(kGroup);
}

}  // namespace

void CellArguments::add_to(CLI::App& app, bool with_dtype) {
  app.add_option("cell", cell, "FILE, FILE:CELL, a built-in cell, or - for stdin")->required();
  app.add_option("-D,--define", bindings, "A dimension or constant: -D H=512 (repeat for more)")
      ->allow_extra_args(false);
  if (with_dtype) {
    std::vector<std::string> names;
    for (const DTypeInfo& row : dtypes()) names.emplace_back(row.name);
    app.add_option("--dtype", dtype, "Dtype of tensors")->check(CLI::IsMember(names))->capture_default_str();
  }
  app.add_option("--memory", memory, "What backward reads from memory, not computes again")
      ->check(CLI::IsMember({"fast", "balanced", "small"}))
      ->capture_default_str();
  app.add_option("--device", device, "Where to run: cpu, or reference (the interpreter)")->capture_default_str();
  app.add_option("--target", target, "What to plan for, if not the device: h200, emulated …");
  app.add_option("--threads", threads, "Threads the batch is divided among (default: all cores)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--workspace", workspace_mb, "Megabytes for work before and after the loop (default: 256)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  app.add_flag("--precise", precise, "No approximations in 16-bit dtypes");
  app.add_flag("--json", json, "Write JSON");
  add_ablations(app, *this);
  add_debugging(app, *this);
}

CellTemplate CellArguments::load() {
  const NamedText text = read_text(cell);
  const CellTemplate result = cell_of(text.file, text.cell);
  const Binding binding = text.file.read_binding(result.name, bindings);
  dims = binding.dims;
  constants = binding.constants;
  return result;
}

CompileOptions CellArguments::options(const CellTemplate& cell) const {
  CompileOptions options;
  options.dims = dims;
  options.constants = constants;
  check_complete(cell, options);
  options.dtype = *dtype_from_name(dtype);
  options.memory = *memory_mode_from_name(memory);
  options.device = device;
  options.target = target;
  options.threads = threads;
  options.workspace_limit = workspace_mb << 20;
  options.precise = precise;
  options.resets = !no_resets;
  options.fusion = !no_fusion;
  options.hoisting = !no_hoisting;
  options.gemm_combining = !no_gemm_combining;
  options.layout = !no_layout;
  options.debugging.print_after = split_list(print_after);
  options.debugging.print_changed = print_changed;
  if (verify_passes) options.debugging.verify = true;
  options.debugging.reproducer_folder = reproducer;
  return options;
}

}  // namespace cellfuse::cli
