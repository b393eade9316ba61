#include "runtime/flags.h"

#include <fmt/format.h>

#include <limits>

#include "runtime/checked.h"

namespace cellfuse {

namespace {

/// Position of a byte view's step and sample axes.
struct Axes {
  int time;
  int batch;
};

void check_bytes(const ByteView& view, const char* what, Axes axes, std::int64_t steps, std::int64_t batch) {
  const TensorShape& shape = view.shape;
  if (shape.rank() != 2 || shape.size(axes.time) != steps || shape.size(axes.batch) != batch) {
    const bool batch_major = axes.batch == 0;
    throw UsageError(fmt::format("{}: expected {} = [{}, {}], got {}", what,
                                 batch_major ? "[batch, time]" : "[time, batch]", batch_major ? batch : steps,
                                 batch_major ? steps : batch, shape.str()));
  }
}

void check_lengths(std::span<const std::int64_t> lengths, std::int64_t steps, std::int64_t batch) {
  if (static_cast<std::int64_t>(lengths.size()) != batch) {
    throw UsageError(fmt::format("lengths: expected one for each of {} samples, got {}", batch, lengths.size()));
  }
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0 || lengths[b] > steps) {
      throw UsageError(fmt::format("lengths: sample {} has length {}, but there are {} steps", b, lengths[b], steps));
    }
  }
}

template <typename Function>
void for_each_step(std::int64_t steps, std::int64_t batch, Function function) {
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t b = 0; b < batch; ++b) function(t, b, static_cast<std::size_t>(t * batch + b));
  }
}

void number_steps(SequenceFlags& flags, const SequenceArguments& arguments, std::int64_t steps, std::int64_t batch) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  if (arguments.first_step < 0 || arguments.first_step > kLargest - steps) {
    throw UsageError(fmt::format("first_step: {} with {} steps does not stay within 0 and {}", arguments.first_step,
                                 steps, kLargest));
  }
  flags.step_index.resize(static_cast<std::size_t>(steps * batch));
  std::vector<std::int32_t> next(static_cast<std::size_t>(batch), static_cast<std::int32_t>(arguments.first_step));
  for_each_step(steps, batch, [&](std::int64_t i, std::int64_t b, std::size_t) {
    const std::int64_t t = arguments.reverse ? steps - 1 - i : i;
    const auto at = static_cast<std::size_t>(t * batch + b);
    auto& count = next[static_cast<std::size_t>(b)];
    flags.step_index[at] = count;
    if (flags.live.empty() || flags.live[at] != 0) ++count;
  });
}

}  // namespace

SequenceFlags make_flags(const SequenceArguments& arguments, std::int64_t steps, std::int64_t batch,
                         bool with_step_index) {
  const auto count = static_cast<std::size_t>(checked_multiply(steps, batch, "steps x samples"));
  const Axes axes = arguments.batch_major ? Axes{1, 0} : Axes{0, 1};
  const auto at = [&](const ByteView& view, std::int64_t t, std::int64_t b) {
    return view.data[t * view.shape.stride(axes.time) + b * view.shape.stride(axes.batch)] != 0;
  };
  const bool has_mask = arguments.mask.data != nullptr;
  const bool has_lengths = !arguments.lengths.empty();
  SequenceFlags flags;
  if (has_mask) check_bytes(arguments.mask, "mask", axes, steps, batch);
  if (has_lengths) check_lengths(arguments.lengths, steps, batch);
  if (has_mask || has_lengths) {
    flags.live.assign(count, 1);
    for_each_step(steps, batch, [&](std::int64_t t, std::int64_t b, std::size_t i) {
      const bool within = !has_lengths || t < arguments.lengths[static_cast<std::size_t>(b)];
      flags.live[i] = within && (!has_mask || at(arguments.mask, t, b)) ? 1 : 0;
    });
  }
  if (arguments.reset.data != nullptr) {
    check_bytes(arguments.reset, "reset", axes, steps, batch);
    flags.reset.assign(count, 0);
    for_each_step(steps, batch, [&](std::int64_t t, std::int64_t b, std::size_t i) {
      flags.reset[i] = at(arguments.reset, t, b) && (flags.live.empty() || flags.live[i] != 0) ? 1 : 0;
    });
  }
  if (with_step_index) number_steps(flags, arguments, steps, batch);
  return flags;
}

}  // namespace cellfuse
