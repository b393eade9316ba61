#pragma once

#include <cstdint>
#include <vector>

#include "examples/char_lm/layer.h"

/// Scales all gradients so that their common Euclidean norm is at most `limit`. Returns the norm before.
double clip_gradients(const std::vector<Parameter*>& parameters, double limit);

/// Adam (Kingma and Ba, arXiv 1412.6980, algorithm 1).
struct Adam {
  explicit Adam(std::vector<Parameter*> parameters);

  /// Moves the parameters against their gradients; `rate` is the size of a step.
  void step(double rate);

  std::vector<Parameter*> parameters;
  std::vector<std::vector<float>> means;    ///< running mean of the gradient, per parameter
  std::vector<std::vector<float>> squares;  ///< and of its square
  std::int64_t steps = 0;
};
