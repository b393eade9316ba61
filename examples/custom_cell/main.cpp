// Defines a new cell three ways, runs it forward and backward, and shows what the compiler made of it.

#include <cellfuse/cellfuse.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

cellfuse::CellTemplate from_file() { return cellfuse::cell_from_file(CELLFUSE_EXAMPLE_FOLDER "/leaky.cell"); }

cellfuse::CellTemplate from_text() {
  return cellfuse::cell_from_text(R"(
    cell leaky(I, H; fastest = 0.8) {
      input  x[I]
      state  h[H]
      param  W[2*H, I], U[2*H, H], b[2*H]

      gate, target = split(W @ x + U @ h + b, 2)
      leak = fastest * sigmoid(gate)
      h' = h + leak * (tanh(target) - h)
      output h'
    })");
}

cellfuse::CellTemplate from_expressions() {
  using namespace cellfuse::build;
  CellBuilder cell("leaky");
  const Var I = cell.dim("I"), H = cell.dim("H"), fastest = cell.constant("fastest", 0.8);
  const Var x = cell.input("x", {I});
  State h = cell.state("h", {H});
  const Var W = cell.param("W", {2 * H, I}), U = cell.param("U", {2 * H, H}), b = cell.param("b", {2 * H});

  const auto [gate, target] = split<2>(W * x + U * h + b);
  const Var leak = (fastest * sigmoid(gate)).as("leak");
  h.next(h + leak * (tanh(target) - h));
  cell.output(h);
  return cellfuse::cell_of(cell.file());
}

/// Numbers that look random, the same in each run.
cellfuse::Tensor filled(cellfuse::TensorShape shape, double seed) {
  cellfuse::Tensor tensor(cellfuse::DType::Float32, shape);
  double phase = seed;
  for (float& value : tensor.as<float>()) value = static_cast<float>(0.5 * std::sin(phase += 1.7));
  return tensor;
}

/// Outputs and gradients of one run, each as numbers.
using Results = std::vector<std::vector<double>>;

Results run(const cellfuse::CellTemplate& cell) {
  constexpr std::int64_t kSteps = 20, kBatch = 4, kIn = 24, kHidden = 32;
  const cellfuse::Executable leaky = cellfuse::compile(cell, {.dims = {{"I", kIn}, {"H", kHidden}}});

  const cellfuse::Tensor x = filled({kSteps, kBatch, kIn}, 1), d_h = filled({kSteps, kBatch, kHidden}, 2);
  const cellfuse::Tensor W = filled({2 * kHidden, kIn}, 3), U = filled({2 * kHidden, kHidden}, 4);
  const cellfuse::Tensor b = filled({2 * kHidden}, 5);
  cellfuse::Tensor h = d_h.clone(), d_x = x.clone(), d_W = W.clone(), d_U = U.clone(), d_b = b.clone();

  cellfuse::Record record =
      leaky.forward_training({.inputs = {{"x", x}}, .params = {{"W", W}, {"U", U}, {"b", b}}, .outputs = {{"h", h}}});
  leaky.backward(std::move(record),
                 {.outputs = {{"h", d_h}}, .params = {{"W", d_W}, {"U", d_U}, {"b", d_b}}, .inputs = {{"x", d_x}}});
  return {h.to_doubles(), d_x.to_doubles(), d_W.to_doubles(), d_U.to_doubles(), d_b.to_doubles()};
}

void print_norms(const Results& results) {
  const char* names[] = {"h", "gradient of x", "gradient of W", "gradient of U", "gradient of b"};
  for (std::size_t i = 0; i < results.size(); ++i) {
    double squares = 0;
    for (const double value : results[i]) squares += value * value;
    fmt::print("norm of {:<14} {:.4f}\n", names[i], std::sqrt(squares));
  }
}

void run_all() {
  const Results results = run(from_file());
  print_norms(results);
  const bool same = run(from_text()) == results && run(from_expressions()) == results;
  fmt::print("file, text and expressions give {} bits\n", same ? "the same" : "DIFFERENT");
  if (!same) throw std::runtime_error("the three definitions differ");

  const cellfuse::Executable leaky = cellfuse::compile(from_file(), {.dims = {{"I", 24}, {"H", 32}}});
  fmt::print("\nWhat runs, forward without training:\n\n{}",
             leaky.text(cellfuse::ProgramKind::Inference, cellfuse::Picture::Plan));
}

}  // namespace

int main() {
  try {
    run_all();
  } catch (const std::exception& error) {
    fmt::print(stderr, "custom_cell: {}\n", error.what());
    return 1;
  }
}
