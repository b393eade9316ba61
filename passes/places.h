#pragma once

#include <vector>

#include "ir/plan.h"

namespace cellfuse {

/// A list of stages of the plan: where in a call a value is made.
struct Place {
  enum Section : std::uint8_t { Once, Begin, Before, Step, After, End, Finish };
  int loop = 0;  ///< for Before, Step and After
  Section section = Once;

  bool in_chunk() const { return section == Before || section == Step || section == After; }
  friend bool operator==(const Place&, const Place&) = default;
};

/// The place that makes each value, for the leaves the place that would copy them.
Place place_of(const Sequence& sequence, NodeId id);

/// True for values that a kernel reads from where the caller, the record or the loop keeps them (a Random is computed).
bool is_source(const Graph& graph, NodeId id);
bool is_gemm(Op op);
/// A view that is followed by changing indices; a Concat is not: it is stored part by part.
bool is_index_view(Op op);
/// The value behind index views.
NodeId behind_views(const Graph& graph, NodeId id);

/// Which values get a buffer, and when in their place they are ready.
struct Materialisation {
  std::vector<bool> live;      ///< by NodeId
  std::vector<bool> buffered;  ///< by NodeId: stored to a buffer of its own
  std::vector<bool> crossing;  ///< by NodeId: also read outside the place that makes it
  std::vector<bool> operand;   ///< by NodeId: read by a GEMM
  /// By NodeId: the number of GEMMs in its own place, one after the other, before it can be computed. A GEMM counts
  /// itself. Kernels of level l run before the GEMMs whose operands are ready at l.
  std::vector<int> level;
};

/// A value that a place must store for somebody outside the graph: an output, a next state, a sum.
struct Sink {
  enum Kind : std::uint8_t { Output, Record, NextState, Start, Final, Result, Sum };
  Kind kind = Output;
  int index = 0;          ///< of the cell's outputs, states or results; of the record; for Sum the Accumulate's id
  NodeId node = kNoNode;  ///< the value stored
  Place place;
};

/// Adds a Final leaf for each state to the sequence's graph.
std::vector<Sink> find_sinks(Sequence& sequence);

/// `separate`: every operation is stored and read back, one after the other (no fusion).
Materialisation materialise(const Sequence& sequence, const std::vector<Sink>& sinks, DType dtype, bool separate);

}  // namespace cellfuse
