#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace cellfuse::cli {

/// The tensors of one training call of an executable, in row-major memory, by index in its interface.
struct CallTensors {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::vector<Tensor> inputs;
  std::vector<Tensor> params;
  std::vector<Tensor> initial;  ///< empty tensors: not given
  std::vector<Tensor> outputs;
  std::vector<Tensor> finals;
  std::vector<Tensor> output_grads;
  std::vector<Tensor> final_grads;  ///< empty tensors: not given
  std::vector<Tensor> input_grads;
  std::vector<Tensor> param_grads;  ///< empty tensors for buffers
  std::vector<Tensor> initial_grads;

  /// All zero.
  CallTensors(const Executable& executable, std::int64_t steps, std::int64_t batch);

  ForwardCall forward(const Interface& interface, const SequenceArguments& sequence = {});
  BackwardCall backward(const Interface& interface);
};

/// Fills a tensor with numbers from [-scale, scale].
void fill_random(Tensor& tensor, double scale, std::mt19937_64& engine);
/// Inputs, params, initial states and gradients of a call; params small enough that states stay of moderate size.
void fill_random(CallTensors& tensors, std::uint64_t seed);

}  // namespace cellfuse::cli
