#include "runtime/lower.h"

#include "ir/diagnostic.h"
#include "passes/pipeline.h"

namespace cellfuse {

namespace {

std::optional<LoweredProgram> take(ProgramSet& set, std::string_view name) {
  Program* program = set.find(name);
  if (program == nullptr) return std::nullopt;
  return LoweredProgram{std::move(program->cell), std::move(*program->sequence), std::move(*program->plan)};
}

PipelineOptions pipeline_options(const CompileOptions& options, const Target& target) {
  PipelineOptions pipeline;
  pipeline.inference = options.inference;
  pipeline.training = options.training;
  pipeline.resets = options.resets;
  pipeline.hoisting = options.hoisting;
  pipeline.gemm_combining = options.gemm_combining;
  pipeline.memory = options.memory;
  pipeline.plan.dtype = options.dtype;
  pipeline.plan.target = target;
  pipeline.plan.fuse = options.fusion;
  pipeline.plan.layout = options.layout;
  pipeline.plan.scan = options.fusion;
  return pipeline;
}

/// The derivative's inputs that take gradients of outputs, in the order of the outputs.
std::vector<int> output_gradients(const Cell& forward, const Cell& derivative) {
  std::vector<int> places;
  for (std::size_t i = forward.inputs.size(); i < derivative.inputs.size(); ++i) {
    if (derivative.inputs[i].role == InputRole::OutputGrad) places.push_back(static_cast<int>(i));
  }
  return places;
}

}  // namespace

LoweredCell lower(const Cell& cell, const CompileOptions& options, const Target& target) {
  PassManager manager(options.debugging);
  PipelineOptions pipeline = pipeline_options(options, target);
  LoweredCell lowered;
  pipeline.select_gradients = [&](const Cell& forward, Cell& derivative) {
    lowered.gradients = select_gradients(forward, derivative, options.gradients);
  };
  ProgramSet set = run_pipeline(cell, pipeline, manager);
  lowered.source = cell;
  lowered.inference = take(set, "inference");
  lowered.forward = take(set, "forward");
  lowered.backward = take(set, "backward");
  if (lowered.backward) {
    lowered.gradients.output_grads =
        output_gradients(lowered.forward->plan.interface, lowered.backward->plan.interface);
  }
  lowered.saved = std::move(set.saved);
  lowered.recomputed = std::move(set.recomputed);
  lowered.times = manager.times();
  return lowered;
}

}  // namespace cellfuse
