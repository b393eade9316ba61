#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace cellfuse {

/// A tensor under its name in the cell.
struct NamedConstTensor {
  std::string name;
  ConstTensorView tensor;
};
struct NamedTensor {
  std::string name;
  TensorView tensor;
};
using ConstTensors = std::vector<NamedConstTensor>;
using Tensors = std::vector<NamedTensor>;

/// One byte for each step and sample, `[time, batch]` (or `[batch, time]` in a batch-major call). Not owned.
struct ByteView {
  const std::uint8_t* data = nullptr;  ///< null: not given
  TensorShape shape = {};
};

/// How one call walks over its sequences.
struct SequenceArguments {
  /// Number of steps and samples; needed only where no tensor of the call shows it.
  std::optional<std::int64_t> steps = {};
  std::optional<std::int64_t> batch = {};
  /// Leading axes of inputs, outputs and their gradients, of mask and reset: `[batch, time, ...]` for `[time, batch,
  /// ...]`.
  bool batch_major = false;
  /// Steps of each sample, from 0 to `steps`; empty: all. What lies past them is neither read nor counted.
  std::span<const std::int64_t> lengths = {};
  /// 0 where a step does not exist: states hold, outputs are 0. Together with `lengths`, both must allow a step.
  ByteView mask = {};
  /// Not 0 where the states go back to their value before the first step; ignored at masked steps.
  ByteView reset = {};
  bool reverse = false;           ///< walk from the last step to the first
  std::int64_t first_step = 0;    ///< value of the language's `t` at the first step of each sample
  std::int64_t first_sample = 0;  ///< index of sample 0 in the draw of random masks, when a batch is split over calls
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::uint32_t layer = 0;  ///< numbers the layers of a stack in the draw of random masks
  std::uint32_t direction = 0;
};

/// A forward pass. Every input, param and buffer of the cell must be given; `initial`, `outputs` and `finals` as far as
/// the caller has or wants them.
struct ForwardCall {
  ConstTensors inputs = {};   ///< `[time, batch, ...]`, in the dtype of the executable
  ConstTensors params = {};   ///< params and buffers, in the shape declared, row-major
  ConstTensors initial = {};  ///< states before the first step `[batch, ...]`, in the compute dtype
  Tensors outputs = {};       ///< `[time, batch, ...]`, in the dtype of the executable
  Tensors finals = {};        ///< states after the last step `[batch, ...]`, in the compute dtype
  SequenceArguments sequence = {};
};

/// A backward pass. Output and final-state gradients that are not given are 0; gradients that are not asked for are
/// dropped.
struct BackwardCall {
  ConstTensors outputs = {};  ///< gradients of outputs `[time, batch, ...]`, in the dtype of the executable
  ConstTensors finals = {};   ///< gradients of final states `[batch, ...]`, in the compute dtype
  Tensors params = {};        ///< gradients of params, in the dtype of the executable or the compute dtype
  Tensors inputs = {};        ///< gradients of inputs `[time, batch, ...]`, in the dtype of the executable
  Tensors initial = {};       ///< gradients of initial states `[batch, ...]`, in the compute dtype
  bool accumulate = false;    ///< add to what `params` hold; inputs and initial are overwritten
};

/// One step of a stream.
struct StepCall {
  ConstTensors inputs = {};                  ///< `[batch, ...]`
  Tensors states = {};                       ///< `[batch, ...]`, every state, updated in place
  Tensors outputs = {};                      ///< `[batch, ...]`
  std::span<const std::uint8_t> mask = {};   ///< for each sample 0: no step; empty: all step
  std::span<const std::uint8_t> reset = {};  ///< for each sample not 0: start anew before the step
  std::int64_t step = 0;                     ///< `t` of the language
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
};

}  // namespace cellfuse
