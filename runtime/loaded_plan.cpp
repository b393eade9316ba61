#include "runtime/loaded_plan.h"

#include <algorithm>

#include "runtime/checked.h"

namespace cellfuse {

namespace {

constexpr double kWorkWorthAThread = 2e6;  // operations: some 0.1 ms, ten times what a thread takes to wake up
constexpr std::int64_t kAlignment = 64;

double work_of(const Plan& plan, const Kernel& kernel) {
  double work = 0;
  for (const Store& store : kernel.stores) {
    constexpr double kOperationsAnElement = 10;
    work += kOperationsAnElement * static_cast<double>(plan.interface.graph[store.node].shape.count());
  }
  return work;
}

double work_of(const Plan& plan, const std::vector<Stage>& stages) {
  double work = 0;
  for (const Stage& stage : stages) {
    if (const auto* gemm = std::get_if<Gemm>(&stage)) {
      work +=
          2.0 * static_cast<double>(gemm->n) * static_cast<double>(gemm->k) * static_cast<double>(gemm->rows_per_unit);
    } else if (const auto* kernel = std::get_if<Kernel>(&stage)) {
      work += work_of(plan, *kernel);
    } else if (const auto* loop = std::get_if<TimeLoop>(&stage)) {
      work += work_of(plan, loop->body);
    }
  }
  return work;
}

}  // namespace

double work_per_step(const Plan& plan) { return work_of(plan, plan.chunk); }

BatchGroups divide_batch(const Plan& plan, std::int64_t steps, std::int64_t batch, int threads) {
  const double work = work_per_step(plan) * static_cast<double>(steps) * static_cast<double>(batch);
  const auto worth = static_cast<std::int64_t>(std::min(work / kWorkWorthAThread, 1e6));
  const std::int64_t count =
      std::clamp<std::int64_t>(std::min<std::int64_t>(threads, batch), 1, std::max<std::int64_t>(worth, 1));
  BatchGroups groups;
  groups.first.clear();
  for (std::int64_t g = 0; g <= count; ++g) groups.first.push_back(g * (batch / count) + std::min(g, batch % count));
  return groups;
}

RecordLayout record_layout(const Plan& plan, std::int64_t steps, std::int64_t batch) {
  constexpr const char* kWhat = "bytes of the record";
  RecordLayout layout;
  const std::int64_t rows = checked_multiply(steps, batch, kWhat);
  for (const RecordField& field : plan.record) {
    layout.offset.push_back(layout.bytes);
    const auto bytes = static_cast<std::int64_t>(checked_bytes(field.shape.count(), field.dtype, kWhat));
    const std::int64_t padded =
        checked_add(checked_multiply(bytes, rows, kWhat), kAlignment - 1, kWhat) / kAlignment * kAlignment;
    layout.bytes = checked_add(layout.bytes, padded, kWhat);
  }
  return layout;
}

}  // namespace cellfuse
