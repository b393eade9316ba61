#include "runtime/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "passes/partition_stages.h"
#include "runtime/executable_impl.h"

namespace cellfuse {

namespace {

double elements(const Shape& shape) { return static_cast<double>(shape.count()); }

/// Rough arithmetic of one element, by the table of operations.
double cost_in_flops(Op op) {
  switch (cost(op)) {
    case Cost::Free: return 0;
    case Cost::Cheap: return 1;
    case Cost::Costly: return 4;
    case Cost::Transcendental: return 15;
  }
  return 1;
}

class Summary {
 public:
  Summary(ProgramKind kind, const Plan& plan) : plan_(plan) {
    summary_.kind = kind;
    summary_.plan = plan.name;
    summary_.candidates = plan.candidates;
    summary_.reasons = plan.reasons;
    summary_.floor_seconds_a_step = plan.floor_seconds_per_step;
  }

  ProgramSummary run() {
    add(plan_.once, "once");
    add(plan_.begin, "start of each sample");
    const auto is_loop = [](const Stage& stage) { return std::holds_alternative<TimeLoop>(stage); };
    const auto loop = std::find_if(plan_.chunk.begin(), plan_.chunk.end(), is_loop);
    add({plan_.chunk.begin(), loop}, "before the loop");
    for (auto it = loop; it != plan_.chunk.end(); ++it) {
      if (const auto* time_loop = std::get_if<TimeLoop>(&*it)) {
        add(*time_loop);
      } else {
        add({*it}, "after the loop");
      }
    }
    add(plan_.end, "end of each sample");
    add(plan_.finish, "finish");
    return std::move(summary_);
  }

 private:
  const Buffer& buffer(int id) const { return plan_.buffers[static_cast<std::size_t>(id)]; }

  void add(const TimeLoop& loop) {
    add(loop.body, "step");
    summary_.synchronisations_a_step += gemm_levels(loop);
    summary_.strategy = std::string(name(loop.strategy));
    for (const Candidate& candidate : plan_.candidates) {
      if (candidate.strategy == loop.strategy) summary_.predicted_seconds_a_step = candidate.seconds_per_step;
    }
  }

  void add(const std::vector<Stage>& stages, const std::string& where) {
    for (const Stage& stage : stages) {
      StageInfo info;
      if (const auto* gemm = std::get_if<Gemm>(&stage)) info = describe(*gemm);
      if (const auto* kernel = std::get_if<Kernel>(&stage)) info = describe(*kernel);
      if (info.name.empty()) continue;
      info.where = where;
      count(info);
      summary_.stages.push_back(std::move(info));
    }
  }

  void count(const StageInfo& info) {
    if (info.where == "step") {
      ++(info.is_gemm ? summary_.gemms_a_step : summary_.kernels_a_step);
      summary_.flops_a_step += info.flops;
      (info.is_gemm ? summary_.matrix_bytes_a_step : summary_.bytes_a_step) += info.bytes;
    } else if (info.where == "before the loop" || info.where == "after the loop") {
      summary_.flops_outside += info.flops;
    }
  }

  StageInfo describe(const Gemm& gemm) const {
    StageInfo result;
    result.name = gemm.name;
    result.is_gemm = true;
    result.reason = gemm.reason;
    result.what =
        gemm.kind == GemmKind::Linear
            ? fmt::format("[{} x {}] matrix {} times {}", gemm.n, gemm.k, buffer(gemm.b).name, buffer(gemm.a).name)
            : fmt::format("[{} x {}] sum of {} times {}", gemm.n, gemm.k, buffer(gemm.a).name, buffer(gemm.b).name);
    const double size = static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
    result.flops = 2.0 * size * static_cast<double>(gemm.rows_per_unit);
    result.bytes = size * static_cast<double>(info(info(plan_.dtype).compute).bytes);
    return result;
  }

  StageInfo describe(const Kernel& kernel) const {
    StageInfo result;
    result.name = kernel.name;
    std::vector<std::string> stored;
    for (const Store& store : kernel.stores) {
      const Buffer& to = buffer(store.buffer);
      if (to.space == Space::Scratch) continue;
      if (std::find(stored.begin(), stored.end(), to.name) == stored.end()) stored.push_back(to.name);
      result.bytes += elements(plan_.interface.graph[store.node].shape) * static_cast<double>(info(to.dtype).bytes);
    }
    for (const Load& load : kernel.loads) {
      const Buffer& from = buffer(load.buffer);
      if (from.space != Space::Scratch && from.batch) result.bytes += static_cast<double>(from.bytes());
    }
    result.what = fmt::format("{}", fmt::join(stored, ", "));
    result.flops = arithmetic(kernel);
    return result;
  }

  /// Of every value that the kernel computes, each once.
  double arithmetic(const Kernel& kernel) const {
    const Graph& graph = plan_.interface.graph;
    std::vector<bool> seen(graph.size(), false);
    for (const Load& load : kernel.loads) seen[load.node] = true;
    std::vector<NodeId> stack;
    for (const Store& store : kernel.stores) {
      seen[store.node] = false;
      stack.push_back(store.node);
    }
    double flops = 0;
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (seen[id]) continue;
      seen[id] = true;
      const Node& node = graph[id];
      const bool reads = is_reduction(node.op) && !node.operands.empty();
      flops += cost_in_flops(node.op) * elements(reads ? graph[node.operands[0]].shape : node.shape);
      stack.insert(stack.end(), node.operands.begin(), node.operands.end());
    }
    return flops;
  }

  const Plan& plan_;
  ProgramSummary summary_;
};

}  // namespace

ProgramSummary summarise(ProgramKind kind, const Plan& plan) { return Summary(kind, plan).run(); }

Explanation Executable::explain() const {
  const auto compilation = impl().only();
  const LoweredCell& lowered = compilation->lowered();
  Explanation explanation;
  explanation.interface = compilation->interface();
  explanation.dtype = impl().options.dtype;
  explanation.target = impl().target;
  explanation.saved = lowered.saved;
  explanation.recomputed = lowered.recomputed;
  if (lowered.inference) explanation.programs.push_back(summarise(ProgramKind::Inference, lowered.inference->plan));
  if (lowered.forward) explanation.programs.push_back(summarise(ProgramKind::Forward, lowered.forward->plan));
  if (lowered.backward) explanation.programs.push_back(summarise(ProgramKind::Backward, lowered.backward->plan));
  return explanation;
}

}  // namespace cellfuse
