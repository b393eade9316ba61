#include "runtime/compilation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

constexpr ProgramKind kKinds[] = {ProgramKind::Inference, ProgramKind::Forward, ProgramKind::Backward};

std::size_t at(ProgramKind kind) { return static_cast<std::size_t>(kind); }

TensorInfo describe(const std::string& name, const Shape& shape, DType dtype) {
  TensorInfo result;
  result.name = name;
  for (int axis = 0; axis < shape.rank(); ++axis) result.shape.push_back(shape[axis].size);
  result.dims = shape.str();
  result.dtype = dtype;
  return result;
}

const std::optional<LoweredProgram>& program_of(const LoweredCell& lowered, ProgramKind kind) {
  switch (kind) {
    case ProgramKind::Inference: return lowered.inference;
    case ProgramKind::Forward: return lowered.forward;
    case ProgramKind::Backward: return lowered.backward;
  }
  throw InternalError("compilation", "unknown program");
}

/// Forward and backward must mean the same by the record between them.
void check_records(const LoweredCell& lowered) {
  if (!lowered.forward || !lowered.backward) return;
  const std::vector<RecordField>& made = lowered.forward->plan.record;
  const std::vector<RecordField>& read = lowered.backward->plan.record;
  const bool equal = std::equal(made.begin(), made.end(), read.begin(), read.end(),
                                [](const auto& a, const auto& b) { return a.shape == b.shape && a.dtype == b.dtype; });
  check_internal(equal, "compile", "the plans of forward and backward disagree about the record");
}

}  // namespace

Interface describe(const Cell& cell, DType dtype) {
  Interface interface;
  interface.cell = cell.name;
  interface.dims = cell.dims;
  const DType compute = info(dtype).compute;
  for (const CellInput& input : cell.inputs) interface.inputs.push_back(describe(input.name, input.shape, dtype));
  for (const CellParam& param : cell.params) {
    interface.params.push_back(describe(param.name, param.shape, dtype));
    interface.params.back().trained = param.trained;
  }
  for (const CellState& state : cell.states) interface.states.push_back(describe(state.name, state.shape, compute));
  for (const CellOutput& output : cell.outputs) {
    interface.outputs.push_back(describe(output.name, cell.graph[output.node].shape, dtype));
  }
  return interface;
}

Compilation::Compilation(const Cell& cell, const CompileOptions& options, const Backend& backend, const Target& target,
                         const Resources& resources)
    : has_resets_(options.resets),
      lowered_(lower(cell, options, target)),
      interface_(describe(cell, options.dtype)),
      times_(lowered_.times) {
  check_records(lowered_);
  if (lowered_.backward) gradients_ = lowered_.gradients;
  const Target here = backend.target();
  if (!options.generate_code) {
    why_not_loaded_ = "it was compiled to be looked at (CompileOptions::generate_code)";
  } else if (!backend.load) {
    why_not_loaded_ = fmt::format("this build has no code generator for the device `{}`", backend.device);
  } else if (target.kind != here.kind || target.vector_bytes > here.vector_bytes) {
    why_not_loaded_ = fmt::format("it was planned for the target `{}`", target.name);
  } else {
    load(backend, resources);
  }
}

void Compilation::load(const Backend& backend, const Resources& resources) {
  std::vector<std::future<void>> others;
  for (const ProgramKind kind : kKinds) {
    const auto& program = program_of(lowered_, kind);
    if (!program) continue;
    others.push_back(std::async(std::launch::async, [this, kind, &program, &backend, &resources] {
      loaded_[at(kind)] = backend.load(program->plan, resources);
    }));
  }
  for (std::future<void>& other : others) other.wait();
  for (std::future<void>& other : others) other.get();
  for (const ProgramKind kind : kKinds) {
    if (!loaded_[at(kind)]) continue;
    for (const auto& [part, seconds] : loaded_[at(kind)]->times()) {
      times_.push_back({std::string(name(kind)), part, seconds});
    }
  }
}

const LoweredProgram& Compilation::program(ProgramKind kind) const {
  const auto& program = program_of(lowered_, kind);
  if (!program) {
    throw UsageError(fmt::format("cell `{}` was compiled without its {} program", interface_.cell, name(kind)));
  }
  return *program;
}

const LoadedPlan& Compilation::loaded(ProgramKind kind) const {
  program(kind);
  if (!loaded_[at(kind)]) {
    throw UsageError(fmt::format("cell `{}` cannot run here: {}", interface_.cell, why_not_loaded_));
  }
  return *loaded_[at(kind)];
}

bool Compilation::uses_step_index(ProgramKind kind) const {
  const std::vector<Buffer>& buffers = program(kind).plan.buffers;
  return std::any_of(buffers.begin(), buffers.end(), [](const Buffer& b) { return b.space == Space::StepIndex; });
}

}  // namespace cellfuse
