#pragma once

#include "ir/cell.h"

namespace cellfuse {

/// The derivative of a cell over a whole sequence, by reverse mode: a cell that walks the steps the other way. Applied
/// to a derivative it gives the next one.
///
/// What it is given, for a cell with inputs x, states s, params p, outputs y and results r:
/// - inputs: those of `cell`, with the same indices; then `s` (role Record) for each state: its value before the step,
///   before a reset replaces it by the start; then `d_output_y` (role OutputGrad) for each output with role Data;
/// - states: `d_s` for each state; its initial value is the gradient of the final state, 0 when not given;
/// - sample_inputs: `s` for each state, what the caller gave as its initial value; then those of `cell`; then
///   `d_result_r` for each result of domain Sample;
/// - params: those of `cell`; then `d_result_r` for each result of domain Once.
///
/// What it gives:
/// - outputs: `d_x` for each input of `cell` but the reset flag, in order;
/// - results: `d_p` for each trained param, in order; then `d_s` of domain Sample for each state, the gradient of its
///   initial value; then the same for each sample input.
///
/// Final states of the derivative have no meaning of their own. A name that is taken gets a number.
///
/// Values of the forward pass that the derivative needs are computed from inputs, params and Record inputs again. An
/// adjoint is summed over steps and samples where it passes to a value that has fewer of them, so that work on
/// parameters alone is differentiated once, after the loop. The branch that a `where` does not take contributes
/// exactly 0.
///
/// Throws CompileError when the derivative cannot be a loop of this kind: when it needs at each step what is only known
/// after the last one.
Cell differentiate(const Cell& cell);

}  // namespace cellfuse
