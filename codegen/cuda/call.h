#pragma once

#include <cstddef>
#include <cstdint>

namespace cellfuse::cuda {

/// Head of the table that a kernel is given in device memory. It is followed by one TableEntry for each buffer of the
/// plan, in their order. The table must not change while a kernel that was given it may run.
struct CallHeader {
  std::int32_t steps = 0;    ///< of the chunk at hand
  std::int32_t samples = 0;  ///< steps * samples must stay below 2^31
  /// Parts, 1 at least, into which kernels that add up over the steps divide them; more of them use more of the GPU.
  std::int32_t segments = 1;
  std::int32_t scratch_blocks = 1;  ///< blocks that `scratch` has room for
  std::uint32_t layer = 0;          ///< for Op::Random, as `ir/philox.h` takes them
  std::uint32_t direction = 0;
  std::int64_t first_sample = 0;
  std::int64_t first_processed = 0;  ///< first_step plus all steps, masked or not, before this chunk
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::uint64_t scratch = 0;  ///< device address of scratch_blocks * (largest Launch::scratch_bytes) bytes
};
static_assert(sizeof(CallHeader) == 64 && offsetof(CallHeader, first_sample) == 24);

/// Where a buffer is: element `e` for sample `s` at step `t` of the chunk is at
///   data + (t * time + s * batch + e) * size of an element.
///
/// Strides count elements and may be negative (time reversed) or 0. Elements of Space::Live and Space::Reset are bytes,
/// those of Space::StepIndex 32-bit integers. Workspace is contiguous and aligned to 16 bytes; tensors of the caller
/// may lie anywhere. Slots of an accumulator (see CudaSource::has_slots) are `batch` elements apart, segment by
/// segment, in each one row a sample.
///
/// A null address means: Live, no step is masked; Reset, none starts anew; StepIndex, `first_processed` + t; Initial
/// and InitialGiven, not given (of InitialGiven only that counts); Output, Final and Result, not wanted. Entries of
/// Space::Scratch are not used.
struct TableEntry {
  std::uint64_t data = 0;
  std::int64_t time = 0;
  std::int64_t batch = 0;
};
static_assert(sizeof(TableEntry) == 24);

}  // namespace cellfuse::cuda
