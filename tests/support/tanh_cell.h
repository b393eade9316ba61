#pragma once

#include "runtime/compile.h"
#include "tests/support/small_cells.h"

namespace cellfuse::testing {

/// `h' = tanh(W @ x + U @ h)` with output `h` and a learned start `h0`, for I inputs and H units.
inline Cell tanh_cell(std::int64_t inputs = 2, std::int64_t units = 3) {
  CellMaker maker;
  const Extent i(inputs, Dim::symbol("I"));
  const Extent h(units, Dim::symbol("H"));
  const Expr x = maker.input("x", {i});
  const Expr state = maker.state("h", {h});
  const Expr w = maker.param("W", {h, i});
  const Expr u = maker.param("U", {h, h});
  maker.start(state, maker.param("h0", {h}));
  const Expr next = tanh(matmul(w, x) + matmul(u, state));
  maker.next(state, next);
  maker.output("h", next);
  maker.cell().name = "rnn";
  maker.cell().dims = {{"H", units}, {"I", inputs}};
  return maker.cell();
}

/// The same with open dimensions.
inline CellTemplate tanh_template() {
  const Dim i = Dim::symbol("I");
  const Dim h = Dim::symbol("H");
  CellTemplate result;
  result.name = "rnn";
  result.dims = {"I", "H"};
  result.inputs = {{"x", {i}}};
  result.params = {{"W", {h, i}}, {"U", {h, h}}, {"h0", {h}}};
  result.states = {{"h", {h}}};
  result.build = [](const DimBinding& dims, const ConstantBinding&) { return tanh_cell(dims.at("I"), dims.at("H")); };
  return result;
}

}  // namespace cellfuse::testing
