#include "examples/char_lm/adam.h"

#include <cmath>
#include <utility>

double clip_gradients(const std::vector<Parameter*>& parameters, double limit) {
  double squares = 0;
  for (const Parameter* parameter : parameters) {
    for (const float value : parameter->gradient) squares += static_cast<double>(value) * value;
  }
  const double norm = std::sqrt(squares);
  if (norm > limit) {
    const auto scale = static_cast<float>(limit / norm);
    for (Parameter* parameter : parameters) {
      for (float& value : parameter->gradient) value *= scale;
    }
  }
  return norm;
}

Adam::Adam(std::vector<Parameter*> given) : parameters(std::move(given)) {
  for (const Parameter* parameter : parameters) {
    means.emplace_back(parameter->value.size());
    squares.emplace_back(parameter->value.size());
  }
}

void Adam::step(double rate) {
  constexpr double kMeanDecay = 0.9;
  constexpr double kSquareDecay = 0.999;
  constexpr float kEpsilon = 1e-8F;
  ++steps;
  const auto count = static_cast<double>(steps);
  const auto size = static_cast<float>(rate / (1 - std::pow(kMeanDecay, count)));
  const auto correction = static_cast<float>(1 / (1 - std::pow(kSquareDecay, count)));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Parameter& parameter = *parameters[i];
    for (std::size_t k = 0; k < parameter.value.size(); ++k) {
      const float gradient = parameter.gradient[k];
      float& mean = means[i][k];
      float& square = squares[i][k];
      mean += static_cast<float>(1 - kMeanDecay) * (gradient - mean);
      square += static_cast<float>(1 - kSquareDecay) * (gradient * gradient - square);
      parameter.value[k] -= size * mean / (std::sqrt(square * correction) + kEpsilon);
    }
  }
}
