#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/cell.h"

namespace cellfuse::testing {

/// Declares inputs, params and states of a cell that is built by hand.
class CellMaker {
 public:
  Expr input(const std::string& name, const Shape& shape) {
    cell_.inputs.push_back({name, shape, InputRole::Data, {}});
    return leaf(cell_.graph, Op::Input, static_cast<std::int32_t>(cell_.inputs.size()) - 1, shape);
  }
  Expr param(const std::string& name, const Shape& shape, bool trained = true) {
    cell_.params.push_back({name, shape, trained, {}});
    return leaf(cell_.graph, Op::Param, static_cast<std::int32_t>(cell_.params.size()) - 1, shape);
  }
  Expr state(const std::string& name, const Shape& shape, double start = 0) {
    cell_.states.push_back({name, shape, constant(cell_.graph, start, shape).id, kNoNode, {}});
    return leaf(cell_.graph, Op::State, static_cast<std::int32_t>(cell_.states.size()) - 1, shape);
  }
  void start(Expr state, Expr value) { state_of(state).start = value.id; }
  void next(Expr state, Expr value) { state_of(state).next = value.id; }
  void output(const std::string& name, Expr value) { cell_.outputs.push_back({name, value.id, OutputRole::Data}); }
  Graph& graph() { return cell_.graph; }
  Cell& cell() { return cell_; }

 private:
  CellState& state_of(Expr state) { return cell_.states[static_cast<std::size_t>(state.node().index)]; }

  Cell cell_;
};

}  // namespace cellfuse::testing
