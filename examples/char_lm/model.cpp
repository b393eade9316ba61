#include "examples/char_lm/model.h"

#include <cellfuse/cellfuse.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

using cellfuse::DType;
using cellfuse::Tensor;
using cellfuse::TensorShape;
using cellfuse::TensorView;

namespace {

constexpr const char* kReadout = R"(
cell readout(H, V) {
  input  h[H]
  param  W[V, H], b[V]
  output logits = W @ h + b
}
)";

/// Fits the model? Then options for the gradients it needs: not those of initial states.
cellfuse::CompileOptions cell_options(const cellfuse::CellTemplate& cell, cellfuse::CompileOptions options) {
  if (cell.inputs.size() != 1 || cell.inputs[0].shape.size() != 1) {
    throw std::runtime_error("cell " + cell.name + ": needs one input, a vector");
  }
  options.resets = false;
  options.gradients = {cell.inputs[0].name};
  for (const auto& param : cell.params) options.gradients->push_back(param.name);
  return options;
}

const cellfuse::TensorInfo& output_of(const Layer& layer) {
  const cellfuse::Interface& interface = layer.interface();
  if (interface.outputs.empty() || interface.outputs[0].shape.size() != 1) {
    throw std::runtime_error("cell " + interface.cell + ": needs a first output that is a vector");
  }
  return interface.outputs[0];
}

cellfuse::CompileOptions readout_options(const Layer& cell, const ModelOptions& options) {
  cellfuse::CompileOptions readout = options.compile;
  readout.dims = {{"H", output_of(cell).shape[0]}, {"V", options.symbols}};
  readout.constants.clear();
  return readout;
}

/// Softmax in place. Returns the log of what all was divided by.
float softmax(std::span<float> logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (float& value : logits) sum += value = std::exp(value - largest);
  for (float& value : logits) value /= sum;
  return largest + std::log(sum);
}

/// Row `index` of a tensor with rows of `size` elements.
void read_row(const Tensor& tensor, std::int64_t index, std::span<float> row) {
  const auto size = static_cast<std::int64_t>(row.size());
  const std::size_t bytes = cellfuse::info(tensor.dtype()).bytes;
  cellfuse::convert(static_cast<const std::byte*>(tensor.data()) + static_cast<std::size_t>(index * size) * bytes,
                    tensor.dtype(), row.data(), DType::Float32, size);
}

void write_row(std::span<const float> row, Tensor& tensor, std::int64_t index) {
  const auto size = static_cast<std::int64_t>(row.size());
  const std::size_t bytes = cellfuse::info(tensor.dtype()).bytes;
  cellfuse::convert(row.data(), DType::Float32,
                    static_cast<std::byte*>(tensor.data()) + static_cast<std::size_t>(index * size) * bytes,
                    tensor.dtype(), size);
}

std::span<float> row_of(std::vector<float>& matrix, std::int32_t index, std::int64_t size) {
  return std::span(matrix).subspan(static_cast<std::size_t>(index * size), static_cast<std::size_t>(size));
}

}  // namespace

Model::Model(const cellfuse::CellTemplate& cell, const ModelOptions& options)
    : options_(options),
      random_(options.seed),
      cell_(cell, cell_options(cell, options.compile), options.start, random_),
      readout_(cellfuse::cell_from_text(kReadout, "readout"), readout_options(cell_, options), {}, random_) {
  const std::int64_t input_size = cell_.interface().inputs[0].shape[0];
  embedding_.name = "embedding";
  embedding_.value.resize(static_cast<std::size_t>(options.symbols * input_size));
  embedding_.gradient.resize(embedding_.value.size());
  std::normal_distribution<float> normal;
  for (float& value : embedding_.value) value = normal(random_);

  const DType dtype = cell_.program().dtype();
  inputs_ = Tensor(dtype, {options.steps, options.batch, input_size});
  outputs_ = Tensor(dtype, {options.steps, options.batch, output_of(cell_).shape[0]});
  logits_ = Tensor(dtype, {options.steps, options.batch, options.symbols});
  input_gradients_ = inputs_.clone();
  output_gradients_ = outputs_.clone();
  logit_gradients_ = logits_.clone();
  finals_ = start().states;
}

Carried Model::start() const {
  Carried carried;
  for (const cellfuse::TensorInfo& state : cell_.interface().states) {
    std::vector<std::int64_t> shape = state.shape;
    shape.insert(shape.begin(), options_.batch);
    carried.states.emplace_back(state.dtype, TensorShape(shape));
  }
  return carried;
}

std::vector<Parameter*> Model::parameters() {
  std::vector<Parameter*> all{&embedding_};
  for (Layer* layer : {&cell_, &readout_}) {
    for (Parameter& parameter : layer->parameters()) all.push_back(&parameter);
  }
  return all;
}

void Model::refresh() {
  cell_.refresh();
  readout_.refresh();
}

/// The first steps of a buffer, as many as the chunk has.
TensorView Model::view(Tensor& tensor, const Chunk& chunk) const {
  return {tensor.data(), tensor.dtype(), {chunk.steps, options_.batch, tensor.shape().size(2)}};
}

cellfuse::ForwardCall Model::cell_call(const Chunk& chunk, const Carried& carried, std::uint64_t offset) {
  const cellfuse::Interface& interface = cell_.interface();
  cellfuse::ForwardCall call{.inputs = {{interface.inputs[0].name, view(inputs_, chunk)}},
                             .params = cell_.params(),
                             .outputs = {{output_of(cell_).name, view(outputs_, chunk)}},
                             .sequence = {.first_step = chunk.first, .seed = options_.seed, .offset = offset}};
  for (std::size_t i = 0; i < finals_.size(); ++i) {
    const std::string& name = interface.states[i].name;
    if (carried.started) call.initial.push_back({name, carried.states[i]});
    call.finals.push_back({name, finals_[i]});
  }
  return call;
}

cellfuse::ForwardCall Model::readout_call(const Chunk& chunk) {
  return {.inputs = {{"h", view(outputs_, chunk)}},
          .params = readout_.params(),
          .outputs = {{"logits", view(logits_, chunk)}}};
}

double Model::evaluate(const Chunk& chunk, Carried& carried) {
  embed(chunk);
  cell_.program().forward(cell_call(chunk, carried, 0));
  readout_.program().forward(readout_call(chunk));
  std::swap(carried.states, finals_);
  carried.started = true;
  return cross_entropy(chunk, false);
}

double Model::learn(const Chunk& chunk, Carried& carried, std::uint64_t offset) {
  embed(chunk);
  cellfuse::Record cell_record = cell_.program().forward_training(cell_call(chunk, carried, offset));
  cellfuse::Record readout_record = readout_.program().forward_training(readout_call(chunk));
  const double bits = cross_entropy(chunk, true);

  readout_.program().backward(std::move(readout_record), {.outputs = {{"logits", view(logit_gradients_, chunk)}},
                                                          .params = readout_.gradients(),
                                                          .inputs = {{"h", view(output_gradients_, chunk)}}});
  const cellfuse::Interface& cell = cell_.interface();
  cell_.program().backward(std::move(cell_record), {.outputs = {{cell.outputs[0].name, view(output_gradients_, chunk)}},
                                                    .params = cell_.gradients(),
                                                    .inputs = {{cell.inputs[0].name, view(input_gradients_, chunk)}}});
  // Backward had the gradient of the sum of all losses, whose size suits 16-bit dtypes better than the mean's.
  const float scale = 1 / static_cast<float>(chunk.steps * options_.batch);
  readout_.collect(scale);
  cell_.collect(scale);
  collect_embedding(chunk, scale);
  std::swap(carried.states, finals_);
  carried.started = true;
  return bits;
}

void Model::embed(const Chunk& chunk) {
  const std::int64_t size = inputs_.shape().size(2);
  for (std::int64_t step = 0; step < chunk.steps; ++step) {
    for (std::int64_t stream = 0; stream < options_.batch; ++stream) {
      const std::int32_t symbol = chunk.streams.input(chunk.first + step, stream);
      write_row(row_of(embedding_.value, symbol, size), inputs_, step * options_.batch + stream);
    }
  }
}

void Model::collect_embedding(const Chunk& chunk, float scale) {
  const std::int64_t size = inputs_.shape().size(2);
  std::fill(embedding_.gradient.begin(), embedding_.gradient.end(), 0.0F);
  std::vector<float> row(static_cast<std::size_t>(size));
  for (std::int64_t step = 0; step < chunk.steps; ++step) {
    for (std::int64_t stream = 0; stream < options_.batch; ++stream) {
      read_row(input_gradients_, step * options_.batch + stream, row);
      const std::int32_t symbol = chunk.streams.input(chunk.first + step, stream);
      const std::span<float> sum = row_of(embedding_.gradient, symbol, size);
      for (std::size_t i = 0; i < row.size(); ++i) sum[i] += scale * row[i];
    }
  }
}

/// Bits per symbol; with `gradient`, the derivative of the sum of the losses (in nats) goes to logit_gradients_.
double Model::cross_entropy(const Chunk& chunk, bool gradient) {
  std::vector<float> row(static_cast<std::size_t>(options_.symbols));
  double loss = 0;
  for (std::int64_t step = 0; step < chunk.steps; ++step) {
    for (std::int64_t stream = 0; stream < options_.batch; ++stream) {
      const std::int64_t index = step * options_.batch + stream;
      const auto target = static_cast<std::size_t>(chunk.streams.target(chunk.first + step, stream));
      read_row(logits_, index, row);
      const float logit = row[target];
      loss += softmax(row) - logit;
      if (!gradient) continue;
      row[target] -= 1;
      write_row(row, logit_gradients_, index);
    }
  }
  return loss / static_cast<double>(chunk.steps * options_.batch) / std::numbers::ln2;
}
