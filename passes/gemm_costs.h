#pragma once

#include <cstdint>

#include "ir/plan.h"

namespace cellfuse {

/// One way to run one matrix product.
struct GemmQuery {
  GemmKind kind = GemmKind::Linear;
  std::int64_t rows = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool contract_rows = false;
  DType compute = DType::Float32;
  GemmCode code = GemmCode::Library;
  Order order = Order::RowMajor;  ///< of the matrix
};

/// What a product costs: from a model, or from measurements that replace it.
class GemmCosts {
 public:
  virtual ~GemmCosts() = default;
  virtual double seconds(const GemmQuery& query) const = 0;
};

/// Arithmetic at a fraction of the peak that depends on the code and the number of rows, the matrix read once from the
/// cache or memory that holds it, and the overhead of a call.
class ModelledGemmCosts final : public GemmCosts {
 public:
  explicit ModelledGemmCosts(Target target) : target_(std::move(target)) {}
  double seconds(const GemmQuery& query) const override;

 private:
  Target target_;
};

}  // namespace cellfuse
