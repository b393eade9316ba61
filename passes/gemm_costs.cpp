#include "passes/gemm_costs.h"

#include <algorithm>

namespace cellfuse {

namespace {

/// Reads of on-chip memory against reads of main memory.
constexpr double kOnChipSpeedup = 4.0;

double efficiency(const GemmQuery& query) {
  if (query.code == GemmCode::Generated) return 0.85;
  // Libraries are built for many rows; a transposed matrix costs them a little more packing.
  double rows = static_cast<double>(query.rows);
  double fraction = 0.8 * rows / (rows + 4.0);
  bool strided = query.kind == GemmKind::Linear && (query.contract_rows == (query.order == Order::Transposed));
  return strided ? fraction * 0.95 : fraction;
}

}  // namespace

double ModelledGemmCosts::seconds(const GemmQuery& query) const {
  double flops = 2.0 * static_cast<double>(query.rows) * static_cast<double>(query.n) * static_cast<double>(query.k);
  double peak = target_.flops_float32 * (query.compute == DType::Float64 ? 0.5 : 1.0);
  auto matrix_bytes = static_cast<double>(query.n * query.k) * static_cast<double>(info(query.compute).bytes);
  bool on_chip = matrix_bytes <= static_cast<double>(target_.on_chip_bytes);
  double bandwidth = target_.memory_bandwidth * (on_chip ? kOnChipSpeedup : 1.0);
  double overhead = query.code == GemmCode::Library ? target_.gemm_call_overhead : 0.0;
  return overhead + std::max(flops / (peak * efficiency(query)), matrix_bytes / bandwidth);
}

}  // namespace cellfuse
