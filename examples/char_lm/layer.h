#pragma once

#include <cellfuse/cellfuse.h>

#include <map>
#include <random>
#include <string>
#include <vector>

/// A trained array. The optimiser works in float32, whatever the dtype of the cell.
struct Parameter {
  std::string name;
  std::vector<float> value;
  std::vector<float> gradient;
};

/// Starting values by the name of the parameter; those that are not named are drawn.
using StartValues = std::map<std::string, double>;

/// A compiled cell and its parameters.
class Layer {
 public:
  /// Compiles the cell and draws parameters: uniform within 1/sqrt(columns) for matrices, 1 for vectors whose name
  /// begins with `gain`, 0 for other vectors.
  Layer(const cellfuse::CellTemplate& cell, const cellfuse::CompileOptions& options, const StartValues& start,
        std::mt19937_64& random);

  const cellfuse::Executable& program() const { return program_; }
  const cellfuse::Interface& interface() const { return program_.interface(); }
  std::vector<Parameter>& parameters() { return parameters_; }

  /// The parameters in the dtype of the cell, as they were at the last `refresh`.
  cellfuse::ConstTensors params() const;
  void refresh();
  /// Where backward writes the gradients; `collect` takes them from there into the parameters, times `scale`.
  cellfuse::Tensors gradients();
  void collect(float scale);

 private:
  cellfuse::Executable program_;
  std::vector<Parameter> parameters_;
  std::vector<cellfuse::Tensor> values_;
  std::vector<cellfuse::Tensor> gradients_;
};
