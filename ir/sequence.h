#pragma once

#include <string>
#include <vector>

#include "ir/cell.h"

namespace cellfuse {

/// When a value is computed, relative to its loop over time.
enum class Phase : std::uint8_t {
  Once,    ///< before the loop, from parameters or per-sample values only (domain Once or Sample)
  Before,  ///< before the loop, for all steps at once: needs no state of the loop
  Step,    ///< in the loop: the recurrence itself, and what is cheapest computed beside it
  After,   ///< after the loop, for all steps at once: feeds no state
  Finish,  ///< after everything: depends on an Accumulate or a Final (domain Once or Sample)
};

struct Placement {
  int loop = 0;  ///< index into Sequence::loops
  Phase phase = Phase::Once;
};

/// A loop over the steps.
struct Loop {
  std::string name;
  std::vector<int> states;  ///< indices into Cell::states: what this loop carries
  bool backward = false;    ///< walks from the last step to the first
  bool has_gemm = false;    ///< a Linear is placed in the step (set by recognize_scan)
  /// Every next state is linear in the states of the loop, elementwise: a parallel scan applies (set by
  /// recognize_scan).
  bool linear = false;
};

/// Loop `to` reads, at its step t, values that loop `from` made at step t - skew.
struct LoopEdge {
  int from = 0;
  int to = 0;
  int skew = 0;
};

/// The whole forward or backward pass: the graph of the cell with a place in time for each value.
///
/// Made by `split_time`; `hoist_invariants`, `combine_gemms` and `recognize_scan` map it to itself:
/// - split_time: a Step-domain value that needs no state goes Before; one that needs a state and feeds a next state
/// goes
///   into the Step; one that feeds none goes After. Then, to save memory traffic: elementwise values that are not GEMMs
///   leave After for the Step when everything they read is there (an After value must be a Linear, an AccumulateOuter,
///   or depend on one); values Before that are free, cheap or costly elementwise work (also recomputed from Record
///   inputs) move into the Step when all their users are there and their operands that would have to be kept for it are
///   no larger together than they are (`W @ x + b`: the addition moves, the GEMM stays; `outer(k, v)` moves, since k
///   and v are smaller than their product). Each decision has a one-line reason for `explain`.
/// - hoist_invariants: checks and places what depends on parameters only (Once), so that it is computed once a call;
///   reports it.
/// - combine_gemms: Linears of the same operand in the same phase become one with the matrices' rows stacked (a Concat
/// of
///   parameters in phase Once) and slices of its result; a sum of Linears in the same phase becomes one with the
///   operands concatenated and the matrices stacked along K; AccumulateOuters sharing an operand likewise; only when it
///   is not more arithmetic. Afterwards gates of one cell are one GEMM.
/// - recognize_scan: sets Loop::has_gemm and Loop::linear.
struct Sequence {
  Cell cell;
  std::vector<Loop> loops;
  std::vector<LoopEdge> edges;
  std::vector<Placement> placement;  ///< by NodeId; meaningful for nodes that the roots of the cell reach
  std::vector<std::string> reasons;  ///< one line a decision, in the order they were taken
};

/// Step-domain values that must be kept for all steps, since they are made in one phase and read in another. Views do
/// not count: reading a view is reading the value behind it. Inputs and StepIndex are kept anyway.
std::vector<NodeId> crossing_values(const Sequence& sequence);

/// The value behind Slice, Reshape, Transpose and Broadcast.
NodeId viewed_value(const Graph& graph, NodeId id);

std::string print(const Sequence& sequence);
/// Checks the cell, that every live node has a place its domain allows, and that no value is read before it is made.
void verify(const Sequence& sequence);

std::string_view name(Phase phase);

}  // namespace cellfuse
