#pragma once

#include "ir/cell.h"

namespace cellfuse {

/// The caller's value of state or sample input `index`, and `otherwise` where none is given.
Expr initial_or(Expr otherwise, std::int32_t index);

/// Lets each state start from the caller's value: a `start` d that the text declares (a number, a param, or any value
/// of domain Once or Sample) becomes `where(given(s), initial(s), d)`. A state that has this form already keeps it.
Cell add_initial_values(const Cell& cell);

/// Adds the input `reset` (role Reset, the last input) and lets each state go back to its start before a step where it
/// is set: a state s is read as `where(reset, start of s, s)`. Does the work of `add_initial_values` first.
Cell add_resets(const Cell& cell);

}  // namespace cellfuse
