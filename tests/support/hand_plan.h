#pragma once

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "codegen/cpu/frame.h"
#include "ir/evaluate.h"
#include "ir/expr.h"
#include "ir/plan.h"
#include "runtime/cpu/jit.h"

namespace cellfuse::testing {

/// A plan made by hand, with memory for its buffers: what the code generator is tested with. First buffers, kernels and
/// stages are made, then `allocate` fixes the number of steps and samples, then `set`, calls and `get` follow.
class HandPlan {
 public:
  /// `vector_bytes` 0: the widest vectors of this machine.
  explicit HandPlan(DType dtype, int vector_bytes = 0);

  Plan plan;
  Graph& graph() { return plan.interface.graph; }
  DType compute() const { return info(plan.dtype).compute; }

  /// A new buffer `[time, batch, shape]`, with the axes that the flags say.
  int buffer(Space space, const Shape& shape, DType dtype, bool time, bool batch);
  /// A value that the kernel reads from a new buffer of the plan's dtype.
  Expr given(Kernel& kernel, const Shape& shape, bool time = true, bool batch = true);
  int buffer_of(const Kernel& kernel, Expr given) const;
  /// Where the kernel stores a value: a new buffer of the plan's dtype, or of `dtype`.
  int kept(Kernel& kernel, Expr value, std::optional<DType> dtype = std::nullopt);
  /// Live flags, or numbers of steps.
  int flags(Space space) { return buffer(space, {}, DType::Float32, true, true); }

  void allocate(std::int64_t steps, std::int64_t samples);
  /// Elements in the order `[time, batch, shape]`, rounded to the buffer's dtype.
  void set(int buffer, const std::vector<double>& values);
  std::vector<double> get(int buffer) const;
  /// Steps of the buffer are walked from the last in memory to the first.
  void reverse_time(int buffer);
  std::int64_t count(int buffer) const;

  cpu::Frame& frame() { return frame_; }
  /// Compiles at the first call.
  const cpu::CompiledPlan& code();

 private:
  std::int64_t elements_bytes(int buffer) const;

  std::int64_t steps_ = 0;
  std::int64_t samples_ = 0;
  int inputs_ = 0;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::byte*> data_;
  std::vector<std::int64_t> time_stride_;
  std::vector<std::int64_t> batch_stride_;
  cpu::Frame frame_{};
  std::unique_ptr<cpu::CompiledPlan> code_;
};

/// Numbers of a distribution.
std::vector<double> numbers(std::mt19937& random, std::int64_t count, double low, double high);
/// `values` rounded to a dtype.
std::vector<double> rounded(const std::vector<double>& values, DType dtype);

/// The float64 meaning of a value, from the values of some nodes.
std::vector<double> meaning(const Graph& graph, NodeId node, const std::map<NodeId, std::vector<double>>& given,
                            const StepPoint& point = {});

/// Largest |got - want| / (1 + |want|); infinite where one is NaN or infinite and the other is not the same.
double worst_error(const std::vector<double>& got, const std::vector<double>& want);

/// Error that a dtype is allowed for one operation.
double operation_tolerance(DType dtype);

}  // namespace cellfuse::testing
