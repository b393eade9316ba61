#include "frontend/cli/tensors.h"

#include <cmath>

namespace cellfuse::cli {

namespace {

std::vector<Tensor> make(const std::vector<TensorInfo>& infos, std::vector<std::int64_t> leading) {
  std::vector<Tensor> tensors;
  for (const TensorInfo& info : infos) {
    std::vector<std::int64_t> shape = leading;
    shape.insert(shape.end(), info.shape.begin(), info.shape.end());
    tensors.emplace_back(info.dtype, TensorShape(shape));
  }
  return tensors;
}

template <typename Named>
std::vector<Named> named(const std::vector<TensorInfo>& infos, std::vector<Tensor>& tensors) {
  std::vector<Named> result;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (tensors[i].data() != nullptr) result.push_back({infos[i].name, tensors[i]});
  }
  return result;
}

}  // namespace

CallTensors::CallTensors(const Executable& executable, std::int64_t steps, std::int64_t batch)
    : steps(steps), batch(batch) {
  const Interface& interface = executable.interface();
  inputs = make(interface.inputs, {steps, batch});
  params = make(interface.params, {});
  initial = make(interface.states, {batch});
  outputs = make(interface.outputs, {steps, batch});
  finals = make(interface.states, {batch});
  output_grads = make(interface.outputs, {steps, batch});
  final_grads = make(interface.states, {batch});
  input_grads = make(interface.inputs, {steps, batch});
  param_grads = make(interface.params, {});
  initial_grads = make(interface.states, {batch});
  for (std::size_t i = 0; i < param_grads.size(); ++i) {
    if (!interface.params[i].trained) param_grads[i] = Tensor();
  }
}

ForwardCall CallTensors::forward(const Interface& interface, const SequenceArguments& sequence) {
  ForwardCall call;
  call.inputs = named<NamedConstTensor>(interface.inputs, inputs);
  call.params = named<NamedConstTensor>(interface.params, params);
  call.initial = named<NamedConstTensor>(interface.states, initial);
  call.outputs = named<NamedTensor>(interface.outputs, outputs);
  call.finals = named<NamedTensor>(interface.states, finals);
  call.sequence = sequence;
  call.sequence.steps = steps;
  call.sequence.batch = batch;
  return call;
}

BackwardCall CallTensors::backward(const Interface& interface) {
  BackwardCall call;
  call.outputs = named<NamedConstTensor>(interface.outputs, output_grads);
  call.finals = named<NamedConstTensor>(interface.states, final_grads);
  call.inputs = named<NamedTensor>(interface.inputs, input_grads);
  call.params = named<NamedTensor>(interface.params, param_grads);
  call.initial = named<NamedTensor>(interface.states, initial_grads);
  return call;
}

void fill_random(Tensor& tensor, double scale, std::mt19937_64& engine) {
  std::vector<double> values(static_cast<std::size_t>(tensor.count()));
  for (double& value : values) value = scale * (2 * static_cast<double>(engine() >> 11U) * 0x1p-53 - 1);
  tensor.assign(values);
}

void fill_random(CallTensors& tensors, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (Tensor& tensor : tensors.inputs) fill_random(tensor, 1, engine);
  for (Tensor& tensor : tensors.params) {
    const int rank = tensor.shape().rank();
    const std::int64_t fan_in = rank == 0 ? 1 : tensor.shape().size(rank - 1);
    fill_random(tensor, 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(fan_in, 1))), engine);
  }
  for (auto* list : {&tensors.initial, &tensors.output_grads, &tensors.final_grads}) {
    for (Tensor& tensor : *list) fill_random(tensor, 1, engine);
  }
}

}  // namespace cellfuse::cli
