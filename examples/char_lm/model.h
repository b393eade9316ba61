#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "examples/char_lm/layer.h"
#include "examples/char_lm/text.h"

/// States that go from one chunk of the streams to the next.
struct Carried {
  bool started = false;                  ///< false: the cell's own start
  std::vector<cellfuse::Tensor> states;  ///< per state of the cell `[batch, ...]`
};

/// Steps `first` to `first + steps` of some streams.
struct Chunk {
  const Streams& streams;
  std::int64_t first;
  std::int64_t steps;
};

struct ModelOptions {
  cellfuse::CompileOptions compile;  ///< for all cells; `dims` and `constants` are those of the recurrent one
  StartValues start;
  std::int64_t symbols = 0;
  std::int64_t batch = 32;  ///< number of streams
  std::int64_t steps = 64;  ///< of the longest chunk
  std::uint64_t seed = 1;
};

/// A language model: a vector for each symbol, a recurrent cell that reads them, and a linear readout of the log-odds
/// of the next symbol.
class Model {
 public:
  /// `cell` has one input and at least one output, both vectors; the first output is read. Throws std::runtime_error
  /// when it has not, and what `compile` throws.
  Model(const cellfuse::CellTemplate& cell, const ModelOptions& options);

  /// States for the start of streams.
  Carried start() const;
  /// Bits per symbol; `carried` moves on.
  double evaluate(const Chunk& chunk, Carried& carried);
  /// The same, and the gradient of the mean loss in each of `parameters()`. `offset` tells random masks apart.
  double learn(const Chunk& chunk, Carried& carried, std::uint64_t offset);
  /// Reads `prompt` and draws `count` more symbols; a `temperature` below 1 sharpens the odds.
  std::vector<std::int32_t> generate(const std::vector<std::int32_t>& prompt, std::int64_t count, double temperature,
                                     std::mt19937_64& random);

  std::vector<Parameter*> parameters();
  /// To be called when the parameters have changed.
  void refresh();
  const cellfuse::Executable& cell() const { return cell_.program(); }

 private:
  void embed(const Chunk& chunk);
  void collect_embedding(const Chunk& chunk, float scale);
  double cross_entropy(const Chunk& chunk, bool gradient);
  cellfuse::ForwardCall cell_call(const Chunk& chunk, const Carried& carried, std::uint64_t offset);
  cellfuse::ForwardCall readout_call(const Chunk& chunk);
  cellfuse::TensorView view(cellfuse::Tensor& tensor, const Chunk& chunk) const;

  ModelOptions options_;
  std::mt19937_64 random_;
  Layer cell_;
  Layer readout_;
  Parameter embedding_;  // [symbols, size of an input]

  // [time, batch, ...]
  cellfuse::Tensor inputs_;
  cellfuse::Tensor input_gradients_;
  cellfuse::Tensor outputs_;
  cellfuse::Tensor output_gradients_;
  cellfuse::Tensor logits_;
  cellfuse::Tensor logit_gradients_;
  std::vector<cellfuse::Tensor> finals_;
};
