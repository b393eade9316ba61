#include "tests/emulation/programs.h"

#include <algorithm>
#include <set>

#include "frontend/language/language.h"
#include "ir/diagnostic.h"
#include "passes/add_resets.h"
#include "passes/bind_mode.h"
#include "passes/pipeline.h"

namespace cellfuse::emulation {

namespace {

const std::filesystem::path kZoo = std::filesystem::path(CELLFUSE_SOURCE_DIR) / "tests" / "zoo";

/// Emulated in all dtypes: one cell of each kind.
constexpr const char* kAllDTypes[] = {"lstm",   "gru_cudnn",   "lnlstm_haste", "slstm", "indrnn",    "sru",
                                      "mingru", "fastweights", "deltanet",     "lru",   "lif_norse", "hyperlstm"};

EmittedProgram emit_program(Program& program, const std::string& name) {
  EmittedProgram result;
  result.cell = std::move(program.cell);
  result.plan = std::move(*program.plan);
  cuda::EmitOptions options;
  options.name = name;
  result.source = cuda::emit(result.plan, options);
  return result;
}

}  // namespace

std::vector<CellChoice> emulated_cells() {
  std::set<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::directory_iterator(kZoo)) {
    if (entry.path().extension() == ".json") cases.insert(entry.path());
  }
  std::vector<CellChoice> choices;
  for (const std::filesystem::path& path : cases) {
    choices.push_back({path, DType::Float32});
    const std::string name = path.stem().string();
    if (std::ranges::find(kAllDTypes, name) == std::end(kAllDTypes)) continue;
    for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float64}) choices.push_back({path, dtype});
  }
  return choices;
}

EmittedCell emit_cell(const CellChoice& choice) {
  EmittedCell result;
  result.name = choice.path.stem().string() + "_" + std::string(info(choice.dtype).name);
  result.dtype = choice.dtype;
  result.test = load_case(choice.path.string());
  const auto text = std::filesystem::path(choice.path).replace_extension(".cell");
  Binding binding;
  binding.dims = result.test.dims;
  result.source = read_cell_file(text.string()).build(result.test.cell, binding);
  result.trained = add_resets(bind_mode(result.source, true));
  PipelineOptions options;
  options.inference = false;
  options.plan.dtype = choice.dtype;
  options.plan.target = *find_target("emulated");
  PassManager manager{PassManagerOptions{}};
  ProgramSet programs = run_pipeline(result.source, options, manager);
  result.forward = emit_program(*programs.find("forward"), result.name + "_forward");
  result.backward = emit_program(*programs.find("backward"), result.name + "_backward");
  return result;
}

}  // namespace cellfuse::emulation
