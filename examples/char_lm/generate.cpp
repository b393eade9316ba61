#include <algorithm>
#include <cmath>

#include "examples/char_lm/model.h"

namespace {

std::int32_t draw(const std::vector<double>& logits, double temperature, std::mt19937_64& random) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> odds;
  for (const double logit : logits) odds.push_back(std::exp((logit - largest) / temperature));
  return std::discrete_distribution<std::int32_t>(odds.begin(), odds.end())(random);
}

}  // namespace

std::vector<std::int32_t> Model::generate(const std::vector<std::int32_t>& prompt, std::int64_t count,
                                          double temperature, std::mt19937_64& random) {
  const cellfuse::Interface& interface = cell_.interface();
  const cellfuse::DType dtype = cell_.program().dtype();
  const std::int64_t input_size = interface.inputs[0].shape[0];
  cellfuse::Tensor x(dtype, {1, input_size});
  cellfuse::Tensor y(dtype, {1, interface.outputs[0].shape[0]});
  cellfuse::Tensor logits(dtype, {1, options_.symbols});

  cellfuse::Tensors states;
  std::vector<cellfuse::Tensor> memory;
  for (const cellfuse::TensorInfo& state : interface.states) {
    std::vector<std::int64_t> shape = state.shape;
    shape.insert(shape.begin(), 1);
    memory.emplace_back(state.dtype, cellfuse::TensorShape(shape));
    states.push_back({state.name, memory.back()});
  }
  cellfuse::Stepper cell = cell_.program().prepare(cell_.params(), 1);
  cellfuse::Stepper readout = readout_.program().prepare(readout_.params(), 1);
  cell.start(states);

  std::vector<std::int32_t> text = prompt;
  for (std::size_t i = 0; i < prompt.size() + static_cast<std::size_t>(count); ++i) {
    if (i >= prompt.size()) text.push_back(draw(logits.to_doubles(), temperature, random));
    cellfuse::convert(embedding_.value.data() + text[i] * input_size, cellfuse::DType::Float32, x.data(), dtype,
                      input_size);
    cell.step({.inputs = {{interface.inputs[0].name, x}},
               .states = states,
               .outputs = {{interface.outputs[0].name, y}},
               .step = static_cast<std::int64_t>(i)});
    readout.step({.inputs = {{"h", y}}, .outputs = {{"logits", logits}}});
  }
  return text;
}
