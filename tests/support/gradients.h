#pragma once

#include <functional>
#include <random>
#include <vector>

#include "ir/cell.h"
#include "ir/run_data.h"

namespace cellfuse::testing {

/// A linear loss: the sum of all that a run gives back, times these weights. An empty list or array weighs nothing.
struct Weights {
  std::vector<Values> outputs;  ///< per output with role Data
  std::vector<Values> finals;   ///< per state
  std::vector<Values> results;  ///< per result
};

double loss(const RunResults& results, const Weights& weights);

/// Gradients of a loss. Empty arrays for reset flags and buffers.
struct Gradients {
  std::vector<Values> inputs;   ///< per input
  std::vector<Values> params;   ///< per param
  std::vector<Values> initial;  ///< per state, then per sample input
};

/// Arguments of `differentiate(cell)` for the run of `cell` that had `arguments` and gave `results`.
RunArguments backward_arguments(const Cell& cell, const RunArguments& arguments, const RunResults& results,
                                const Weights& weights);

/// What a run of `differentiate(cell)` gave, by what it is the gradient of.
Gradients sort_gradients(const Cell& cell, const RunResults& backward);

/// Runs `cell` and its derivative.
Gradients gradients(const Cell& cell, const Cell& derivative, const RunArguments& arguments, const Weights& weights);
Gradients gradients(const Cell& cell, const RunArguments& arguments, const Weights& weights);

/// The sum of all gradients times `directions`: a scalar function of them.
double dot(const Gradients& gradients, const Gradients& directions);

/// The gradient of `dot(gradients(...), directions)`: differentiates twice, and once more through the states that the
/// first derivative is given.
Gradients double_gradients(const Cell& cell, const RunArguments& arguments, const Weights& weights,
                           const Gradients& directions);

/// Central differences of `function`, for all that `like` has a gradient of.
Gradients differences(const RunArguments& arguments, const Gradients& like,
                      const std::function<double(const RunArguments&)>& function, double step);

/// Largest scaled error over all arrays.
double scaled_error(const Gradients& got, const Gradients& want);

/// Random arguments for a cell, and directions and weights for its gradients: uniform in [-1, 1].
class RandomRun {
 public:
  explicit RandomRun(unsigned seed) : engine_(seed) {}

  Values values(std::int64_t count, double low = -1, double high = 1);
  RunArguments arguments(const Cell& cell, std::int64_t steps, std::int64_t batch);
  Weights weights(const Cell& cell, const RunArguments& arguments, bool outputs, bool finals);
  Gradients directions(const Gradients& like);
  /// Flags that are 1 with probability `share`.
  std::vector<std::uint8_t> flags(std::int64_t count, double share);

 private:
  std::mt19937 engine_;
};

}  // namespace cellfuse::testing
