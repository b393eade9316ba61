#include "passes/pipeline.h"

#include "ir/diagnostic.h"
#include "passes/add_resets.h"
#include "passes/bind_mode.h"
#include "passes/choose_layout.h"
#include "passes/choose_strategy.h"
#include "passes/combine_gemms.h"
#include "passes/differentiate.h"
#include "passes/fuse.h"
#include "passes/hoist_invariants.h"
#include "passes/legalise.h"
#include "passes/partition_stages.h"
#include "passes/place_buffers.h"
#include "passes/recognize_scan.h"
#include "passes/simplify.h"
#include "passes/split_time.h"
#include "passes/strip_annotations.h"

namespace cellfuse {

namespace {

// A pass that maps a level to itself, as a row.
template <Cell (*kPass)(const Cell&)>
void on_cell(Program& program, const PipelineOptions& /*options*/) {
  program.cell = kPass(program.cell);
}

template <Sequence (*kPass)(const Sequence&)>
void on_sequence(Program& program, const PipelineOptions& /*options*/) {
  program.sequence = kPass(*program.sequence);
}

template <Plan (*kPass)(Plan)>
void on_plan(Program& program, const PipelineOptions& /*options*/) {
  program.plan = kPass(*program.plan);
}

void bind_program_mode(Program& program, const PipelineOptions& /*options*/) {
  program.cell = bind_mode(program.cell, program.name != "inference");
}

void add_initial(Program& program, const PipelineOptions& options) {
  program.cell = options.resets ? add_resets(program.cell) : add_initial_values(program.cell);
}

void make_backward(ProgramSet& programs) {
  const Program* forward = programs.find("forward");
  Cell derivative = differentiate(forward->cell);
  if (programs.options.select_gradients) programs.options.select_gradients(forward->cell, derivative);
  programs.programs.push_back({"backward", std::move(derivative), {}, {}});
}

void save(ProgramSet& programs) {
  Program* forward = programs.find("forward");
  Program* backward = programs.find("backward");
  const PipelineOptions& options = programs.options;
  SavedProgram result = choose_saved(forward->cell, backward->cell, options.memory, options.plan.dtype);
  forward->cell = std::move(result.forward);
  backward->cell = std::move(result.backward);
  programs.saved = std::move(result.saved);
  programs.recomputed = std::move(result.recomputed);
}

void split(Program& program, const PipelineOptions& options) {
  program.sequence = options.hoisting ? split_time(program.cell) : keep_in_loop(program.cell);
}

void combine(Program& program, const PipelineOptions& options) {
  if (options.gemm_combining && options.hoisting) program.sequence = combine_gemms(*program.sequence);
}

void partition(Program& program, const PipelineOptions& options) {
  program.plan = partition_stages(*program.sequence, options.plan);
}

void strategy(Program& program, const PipelineOptions& options) {
  program.plan = choose_strategy(*program.plan, options.plan);
}

void layout(Program& program, const PipelineOptions& options) {
  const ModelledGemmCosts model(options.plan.target);
  program.plan =
      choose_layout(*program.plan, options.plan, options.gemm_costs != nullptr ? *options.gemm_costs : model);
}

constexpr PipelineRow kPipeline[] = {
    // Cell
    {"bind_mode", "training or inference", bind_program_mode, nullptr},
    {"add_resets", "initial values of the caller's, resets", add_initial, nullptr},
    {"simplify", "fold, share, algebra that keeps results", on_cell<simplify>, nullptr},
    {"differentiate", "the backward program", nullptr, make_backward},
    {"strip_annotations", "what only the derivative needed", on_cell<strip_annotations>, nullptr},
    {"simplify", "also what the derivative is made of", on_cell<simplify>, nullptr},
    {"legalise", "primitives and products with matrices", on_cell<legalise>, nullptr},
    {"simplify", "what the expansions allow", on_cell<simplify>, nullptr},
    {"choose_saved", "what forward leaves for backward", nullptr, save},
    // Sequence
    {"split_time", "before, in and after the loop", split, nullptr},
    {"hoist_invariants", "parameter-only work, once a call", on_sequence<hoist_invariants>, nullptr},
    {"combine_gemms", "few large products", combine, nullptr},
    {"recognize_scan", "loops without a product", on_sequence<recognize_scan>, nullptr},
    // Plan
    {"partition_stages", "the fewest synchronisations a step", partition, nullptr},
    {"fuse", "loop nests", on_plan<fuse>, nullptr},
    {"choose_strategy", "how each loop runs", strategy, nullptr},
    {"choose_layout", "code and layout of each product", layout, nullptr},
    {"place_buffers", "one arena", on_plan<place_buffers>, nullptr},
};

void run_row(const PipelineRow& row, ProgramSet& set, PassManager& manager) {
  if (row.joint != nullptr) {
    if (set.find("forward") == nullptr) return;
    manager.run(row.name, [&] { return std::span(set.programs); }, [&] { row.joint(set); });
    return;
  }
  for (Program& program : set.programs) {
    manager.run(row.name, [&] { return std::span(&program, 1); }, [&] { row.each(program, set.options); });
  }
}

}  // namespace

Program* ProgramSet::find(std::string_view name) {
  for (Program& program : programs) {
    if (program.name == name) return &program;
  }
  return nullptr;
}

const Program* ProgramSet::find(std::string_view name) const { return const_cast<ProgramSet*>(this)->find(name); }

std::span<const PipelineRow> pipeline() { return kPipeline; }

ProgramSet run_pipeline(const Cell& cell, const PipelineOptions& options, PassManager& manager, std::string_view last) {
  ProgramSet set{options, {}, {}, {}};
  if (options.inference) set.programs.push_back({"inference", cell, {}, {}});
  if (options.training) set.programs.push_back({"forward", cell, {}, {}});
  std::size_t end = std::size(kPipeline);
  while (end > 0 && !last.empty() && kPipeline[end - 1].name != last) --end;
  check_internal(end > 0, "run_pipeline", "no such pass");
  for (std::size_t i = 0; i < end; ++i) run_row(kPipeline[i], set, manager);
  return set;
}

}  // namespace cellfuse
