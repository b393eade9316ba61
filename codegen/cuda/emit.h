#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/plan.h"

namespace cellfuse::cuda {

struct EmitOptions {
  std::string name;              ///< namespace and prefix of the kernels; the plan's name when empty
  bool approximate = true;       ///< 16-bit plans use the hardware's approximations of exp, log, tanh, sigmoid
  bool line_directives = false;  ///< `#line` leads from the kernels to the user's `.cell`
};

/// What a launch has a thread, or a team of threads, for.
enum class Rows : std::uint8_t {
  One,       ///< a single row
  Samples,   ///< each sample
  Steps,     ///< each sample at each step of the chunk
  Segments,  ///< each sample in each segment of the steps (see CallHeader::segments)
};

/// One launch of a kernel `extern "C" void kernel(const Call* call, int iteration)`. `call` points to the call's table
/// in device memory (see call.h), `iteration` counts the steps that a loop has walked in this chunk; 0 outside a loop.
struct Launch {
  std::string kernel;
  Rows rows = Rows::One;
  std::int64_t rows_per_block = 1;
  std::int64_t blocks_per_row = 1;
  int threads = 1;                 ///< of a block
  std::int64_t shared_bytes = 0;   ///< dynamic shared memory of a block; more than 48 KB must be asked for
  std::int64_t scratch_bytes = 0;  ///< of CallHeader::scratch, for each block; then there are at most
                                   ///< `CallHeader::scratch_blocks` blocks, which share the rows
  std::vector<int> reads;          ///< buffers of the plan
  std::vector<int> writes;

  /// Blocks of the grid; none where there are no rows.
  std::int64_t blocks(std::int64_t steps, std::int64_t samples, std::int64_t segments,
                      std::int64_t scratch_blocks) const;
};

struct LoopRun;
/// A step of a program: a launch, a library call, or a loop over the steps of the chunk.
using Action = std::variant<Launch, Gemm, LoopRun>;

/// Runs `body` for iteration 0, 1, ... of the chunk. A state is read from `states[i][0]` and written to `states[i][1]`
/// in even iterations, the other way round in odd ones: kernels see to that by their argument `iteration`, library
/// calls are given the addresses. After the chunk, the first is to be the current one again: the runtime exchanges the
/// two in the table when the number of iterations was odd.
///
/// A Gemm of the body whose operand has a time axis works on the part of step `iteration`, or of the last step minus
/// `iteration` in a backward loop.
struct LoopRun {
  std::string name;
  bool backward = false;
  std::vector<Action> body;
  std::vector<std::array<int, 2>> states;
};

/// A plan as CUDA C++. One source holds the kernels of a plan in a namespace of its own, so that the kernels of several
/// plans can share a prelude: prelude + kernels of one + kernels of the other is one translation unit that includes
/// nothing.
///
/// The actions run in the order of Plan: `once`, `begin`, the chunks of steps, `end`, `finish`, all samples as one
/// group. Kernels depend on nothing but the table and the iteration, so a captured sequence of launches serves every
/// number of chunks, every batch of the same number of blocks, and every tensor: only the table changes. A kernel whose
/// iteration is past the steps of the chunk does nothing.
struct CudaSource {
  std::string name;     ///< namespace and prefix
  std::string kernels;  ///< without the prelude
  std::vector<Action> once;
  std::vector<Action> begin;
  std::vector<Action> chunk;
  std::vector<Action> end;
  std::vector<Action> finish;
  /// By buffer: an accumulator with a row for each segment and sample; its rows are added up into the first (of each
  /// sample) by a kernel. The runtime zeroes all of them at the start of a call.
  std::vector<bool> has_slots;

  /// Prelude and kernels, with line directives where they were asked for.
  std::string text() const;
};

/// Throws InternalError where the plan breaks its rules, UsageError for a strategy that is not emitted.
CudaSource emit(const Plan& plan, const EmitOptions& options = {});

/// The code all kernels are written in. `machine` false leaves out the part that is particular to CUDA: its first.
std::string prelude(bool machine = true);

}  // namespace cellfuse::cuda
