#pragma once

#include <cstddef>
#include <cstdint>

namespace cellfuse::cpu {

/// What compiled code is called with: plain C layout, filled by the runtime, one for each thread (batch group).
///
/// Element `e` of the buffer `b` (an index into Plan::buffers), for sample `s` of the group, at step `t` of the chunk:
///   data[b] + t * time_stride[b] + s * batch_stride[b] + e * (size of an element)
/// whatever the buffer is: a tensor of the caller (any strides for time and batch, negative for reversed time, 0 for a
/// value shared by all), a record, workspace, or scratch. A buffer without `time` or `batch` is read with the stride 0,
/// whatever the table says. Rows of one buffer must not overlap where they are written, and no two buffers that live at
/// the same time may, except caller's tensors that are only read.
///
/// Steps count from 0 to `steps` - 1 in the order in which the forward pass processes them; a TimeLoop with `backward`
/// walks them from the last to the first, and its chunks come last first. The reverse direction of a layer is a matter
/// of negative time strides alone.
///
/// Elements of Space::Live and Space::Reset are bytes (nonzero: live, reset), those of Space::StepIndex 32-bit
/// integers; Space::Initial, InitialGiven and Scratch are like any other. For a call without masks, `data` of the Live
/// buffer may point to a single 1 with strides 0; without resets, likewise to a single 0. What was not given (an
/// initial state) must still be readable: a single row of zeros with strides 0 will do.
///
/// States: a state has two buffers with the same strides. Each step reads the first and writes the second, and then the
/// loop exchanges `data[first]` and `data[second]`. So after `chunk`, as before it, `data[first]` is the current state,
/// for the next chunk, for `end`, for the caller; the table is changed by the call.
struct Frame {
  std::byte** data;
  const std::int64_t* time_stride;   ///< bytes
  const std::int64_t* batch_stride;  ///< bytes
  std::int64_t steps;                ///< of this chunk
  std::int64_t samples;              ///< of this group
  std::int64_t first_sample;         ///< index of the group's first sample in the caller's numbering, for Op::Random
  std::int64_t first_processed;      ///< first_step plus all steps, masked or not, before this chunk, for Op::Random
  std::uint64_t seed;                ///< for Op::Random, as `ir/philox.h` takes them
  std::uint64_t offset;
  std::uint32_t layer;
  std::uint32_t direction;
};

/// A compiled part of a plan.
using Entry = void (*)(Frame*);

}  // namespace cellfuse::cpu
