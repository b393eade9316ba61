#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/emit.h"
#include "ir/plan.h"

namespace cellfuse::cuda {

/// What all parts of the emission of a plan share.
struct Unit {
  const Plan& plan;
  const Graph& graph;
  EmitOptions options;
  std::string name;                 ///< namespace and prefix
  DType compute;                    ///< type of arithmetic
  std::string real;                 ///< the same in C++
  std::vector<std::string> fields;  ///< by buffer: its name in the table
  std::vector<bool> has_slots;      ///< by buffer, see CudaSource

  Unit(const Plan& plan, const EmitOptions& options);

  const Buffer& buffer(int id) const { return plan.buffers[static_cast<std::size_t>(id)]; }
  const std::string& field(int id) const { return fields[static_cast<std::size_t>(id)]; }
  std::int64_t real_bytes() const;
  /// Elements that a thread computes side by side where memory allows it.
  int widest_lanes() const;
};

/// `float`, `Half`, ... of an element in memory.
std::string element_type(const Buffer& buffer);

/// How a kernel walks the steps.
enum class Walk : std::uint8_t {
  None,      ///< a row is one step, or none
  Segments,  ///< the steps of a segment, to add up over them
  Loop,      ///< all steps of the chunk, carrying the states
};

/// A kernel under emission: where its buffers are.
struct KernelFrame {
  const Unit& unit;
  const Kernel& kernel;
  Walk walk = Walk::None;
  bool in_loop = false;   ///< body of a stepwise loop
  bool backward = false;  ///< the loop's
  std::vector<Carried> carried;
  std::map<int, std::string> pointers;   ///< by buffer: its elements are at this pointer of the kernel's own
  std::map<int, std::string> registers;  ///< by buffer: its element at hand is this variable
  std::map<int, std::string> uniforms;   ///< by buffer of one element: every thread of the team has it in this variable

  /// Whether the kernel writes the buffer.
  bool writes(int buffer) const;
  /// Whether the buffer may change while the kernel runs: what it writes, and the states of the loop in it.
  bool changes(int buffer) const { return writes(buffer) || (walk == Walk::Loop && state_in(buffer) != nullptr); }
  /// The state whose value before or after a step the buffer holds, or null.
  const Carried* state_in(int buffer) const;
  /// What numbers of elements are counted in: `int` where they fit.
  std::string index_type() const;
  /// Address of the first element of the row at hand.
  std::string row_of(int buffer) const;
};

}  // namespace cellfuse::cuda
