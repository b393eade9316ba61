#include "examples/char_lm/layer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace {

void draw(const cellfuse::TensorInfo& info, Parameter& parameter, std::mt19937_64& random) {
  if (info.shape.size() < 2) {
    const bool gain = info.name.starts_with("gain");
    std::fill(parameter.value.begin(), parameter.value.end(), gain ? 1.0F : 0.0F);
    return;
  }
  const float bound = 1 / std::sqrt(static_cast<float>(info.shape.back()));
  std::uniform_real_distribution<float> uniform(-bound, bound);
  for (float& value : parameter.value) value = uniform(random);
}

}  // namespace

Layer::Layer(const cellfuse::CellTemplate& cell, const cellfuse::CompileOptions& options, const StartValues& start,
             std::mt19937_64& random)
    : program_(cellfuse::compile(cell, options)) {
  for (const cellfuse::TensorInfo& info : interface().params) {
    if (!info.trained) throw std::runtime_error("the cell needs a value for its buffer " + info.name);
    const cellfuse::TensorShape shape{std::span<const std::int64_t>(info.shape)};
    const auto count = static_cast<std::size_t>(shape.count());
    parameters_.push_back({info.name, std::vector<float>(count), std::vector<float>(count)});
    values_.emplace_back(program_.dtype(), shape);
    gradients_.emplace_back(cellfuse::info(program_.dtype()).compute, shape);
    const auto given = start.find(info.name);
    if (given == start.end()) {
      draw(info, parameters_.back(), random);
    } else {
      parameters_.back().value.assign(count, static_cast<float>(given->second));
    }
  }
  refresh();
}

cellfuse::ConstTensors Layer::params() const {
  cellfuse::ConstTensors named;
  for (std::size_t i = 0; i < values_.size(); ++i) named.push_back({parameters_[i].name, values_[i]});
  return named;
}

void Layer::refresh() {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    cellfuse::convert(parameters_[i].value.data(), cellfuse::DType::Float32, values_[i].data(), values_[i].dtype(),
                      values_[i].count());
  }
}

cellfuse::Tensors Layer::gradients() {
  cellfuse::Tensors named;
  for (std::size_t i = 0; i < gradients_.size(); ++i) named.push_back({parameters_[i].name, gradients_[i]});
  return named;
}

void Layer::collect(float scale) {
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    cellfuse::convert(gradients_[i].data(), gradients_[i].dtype(), parameters_[i].gradient.data(),
                      cellfuse::DType::Float32, gradients_[i].count());
    for (float& value : parameters_[i].gradient) value *= scale;
  }
}
