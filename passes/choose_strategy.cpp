#include "passes/choose_strategy.h"

#include <algorithm>
#include <set>

#include "passes/choose_layout.h"
#include "passes/partition_stages.h"
#include "passes/places.h"

namespace cellfuse {

namespace {

/// Arithmetic and memory traffic of one step of one sample, and the matrices a step reads.
struct StepWork {
  double gemm_flops = 0;
  double elementwise_flops = 0;
  double bytes = 0;
  double matrix_bytes = 0;
  int kernels = 0;
  int gemms = 0;
};

double elements(const Shape& shape) { return static_cast<double>(shape.count()); }

StepWork work_of(const Plan& plan, const TimeLoop& loop) {
  StepWork work;
  for (const Stage& stage : loop.body) {
    if (const auto* gemm = std::get_if<Gemm>(&stage)) {
      ++work.gemms;
      auto matrix = static_cast<double>(gemm->n * gemm->k);
      work.gemm_flops += 2.0 * matrix * static_cast<double>(gemm->rows_per_unit);
      if (gemm->kind == GemmKind::Linear) {
        work.matrix_bytes += matrix * static_cast<double>(info(info(plan.dtype).compute).bytes);
      }
    } else if (const auto* kernel = std::get_if<Kernel>(&stage)) {
      ++work.kernels;
      for (const Nest& nest : kernel->nests) {
        work.elementwise_flops +=
            elements(nest.space) * static_cast<double>(nest.roots.size() + nest.also.size()) * 4.0;
      }
      for (const Load& load : kernel->loads)
        work.bytes += static_cast<double>(plan.buffers[static_cast<std::size_t>(load.buffer)].bytes());
      for (const Store& store : kernel->stores) {
        work.bytes += elements(plan.interface.graph[store.node].shape) * static_cast<double>(info(plan.dtype).bytes);
      }
    }
  }
  return work;
}

/// Empty when the step can run with its states in registers, unit by unit; else why not.
std::string why_not_scan(const Plan& plan, const TimeLoop& loop) {
  if (loop.body.size() != 1 || !std::holds_alternative<Kernel>(loop.body.front())) {
    return "the step waits for " + std::to_string(gemm_levels(loop)) + " GEMM(s)";
  }
  const auto& kernel = std::get<Kernel>(loop.body.front());
  if (kernel.nests.size() != 1 || kernel.nests.front().kind != NestKind::Map) {
    return "units of a step depend on one another (a reduction or a broadcast along the hidden axis)";
  }
  const Graph& graph = plan.interface.graph;
  std::set<std::pair<NodeId, bool>> seen;
  std::vector<std::pair<NodeId, bool>> stack;
  for (NodeId root : kernel.nests.front().roots) stack.emplace_back(root, true);
  while (!stack.empty()) {
    auto [id, aligned] = stack.back();
    stack.pop_back();
    if (!seen.emplace(id, aligned).second) continue;
    const Node& node = graph[id];
    if (node.op == Op::State && !aligned) return "a unit reads the states of other units";
    for (NodeId operand : node.operands) stack.emplace_back(operand, aligned && is_elementwise(node.op));
  }
  return {};
}

double floor_seconds(const Plan& plan, const StepWork& work) {
  const Target& target = plan.target;
  double samples = static_cast<double>(kTypicalSamples);
  double peak = target.flops_float32 * target.blocks * (info(plan.dtype).compute == DType::Float64 ? 0.5 : 1.0);
  bool streamed = work.matrix_bytes > static_cast<double>(target.on_chip_bytes) * target.blocks;
  double arithmetic = (work.gemm_flops + work.elementwise_flops) * samples / peak;
  double traffic = (streamed ? work.matrix_bytes : 0.0) / target.memory_bandwidth;
  return std::max(arithmetic, traffic);
}

void choose(Plan& plan, TimeLoop& loop, const PlanOptions& options) {
  StepWork work = work_of(plan, loop);
  double floor = floor_seconds(plan, work);
  plan.floor_seconds_per_step += floor;
  const Target& target = plan.target;

  Candidate stepwise{Strategy::Stepwise, true, 0, "works for every cell"};
  double exchanged = target.blocks > 1 ? gemm_levels(loop) * target.synchronisation : 0.0;
  double cache_traffic = work.bytes * static_cast<double>(kTypicalSamples) / (4.0 * target.memory_bandwidth);
  stepwise.seconds_per_step = floor + cache_traffic + work.kernels * target.launch_overhead + exchanged;
  if (target.kind == TargetKind::Cuda) stepwise.seconds_per_step += work.gemms * target.gemm_call_overhead;

  Candidate scan{Strategy::Scan, false, 0, why_not_scan(plan, loop)};
  scan.feasible = scan.reason.empty();
  if (scan.feasible) {
    scan.reason = "no GEMM in the step and no unit reads another: states stay in registers";
    scan.seconds_per_step = floor + cache_traffic / 2;
    if (!options.scan) {
      scan.feasible = false;
      scan.reason = "switched off";
    }
  }
  loop.strategy = scan.feasible ? Strategy::Scan : Strategy::Stepwise;
  plan.candidates.push_back(stepwise);
  plan.candidates.push_back(scan);
}

}  // namespace

Plan choose_strategy(Plan plan, const PlanOptions& options) {
  for (Stage& stage : plan.chunk) {
    if (auto* loop = std::get_if<TimeLoop>(&stage)) choose(plan, *loop, options);
  }
  return plan;
}

}  // namespace cellfuse
