#pragma once

#include <string>
#include <vector>

#include "ir/dim.h"
#include "ir/expr.h"
#include "ir/graph.h"

namespace cellfuse {

/// Why a per-step input is there.
enum class InputRole : std::uint8_t {
  Data,        ///< the user's
  Reset,       ///< scalar flag: states go back to their start before this step
  OutputGrad,  ///< gradient of output `index` of the differentiated cell
  Record,      ///< saved by the forward pass
};

struct CellInput {
  std::string name;
  Shape shape;
  InputRole role = InputRole::Data;
  Span span{};
};

struct CellParam {
  std::string name;
  Shape shape;
  bool trained = true;  ///< false for a `buffer`
  Span span{};
};

/// A value carried from step to step.
struct CellState {
  std::string name;
  Shape shape;
  NodeId start = kNoNode;  ///< value before the first step: domain Once or Sample
  NodeId next = kNoNode;   ///< value after this step
  Span span{};
};

/// A value the caller may give once for each sample, beside the states' values before the first step: in a derivative,
/// what the forward pass started from. Read through `Initial` and `InitialGiven` leaves with index states.size() + i.
struct CellSampleInput {
  std::string name;
  Shape shape;
};

enum class OutputRole : std::uint8_t {
  Data,    ///< the user's, or the gradient of an input
  Record,  ///< saved for the backward pass
};

/// A value handed out at each step.
struct CellOutput {
  std::string name;
  NodeId node = kNoNode;
  OutputRole role = OutputRole::Data;
};

/// A value handed out once, after the last step.
struct CellResult {
  std::string name;
  NodeId node = kNoNode;
  /// Once: `[...]` (gradient of a param); Sample: `[batch, ...]` (of an initial state), also where the node is the same
  /// for all samples.
  Domain domain = Domain::Once;
};

/// One step of one sample, as equations: what the user wrote, or its derivative (which is again a cell: a loop over the
/// steps the other way, with the gradients of the states as its states). Dimensions are bound; `Extent::dim` keeps the
/// user's expression. The meaning of a cell over a sequence, with masks, is defined by `ir/interpret_cell.h`.
struct Cell {
  std::string name;
  DimBinding dims;
  Graph graph;
  std::vector<CellInput> inputs;
  std::vector<CellParam> params;
  std::vector<CellState> states;
  std::vector<CellSampleInput> sample_inputs;
  std::vector<CellOutput> outputs;
  std::vector<CellResult> results;
  /// True when the steps are walked from the last to the first of the forward cell.
  bool backward = false;

  Expr expr(NodeId id) { return {&graph, id}; }
  /// Every node that is handed out or carried.
  std::vector<NodeId> roots() const;
};

/// A cell as text: declarations, then one line a value, with the user's names.
std::string print(const Cell& cell);
/// Checks operand counts, shapes, domains, indices, and that every state has `start` and `next` of its shape. Throws
/// InternalError that names the node.
void verify(const Cell& cell);

}  // namespace cellfuse
