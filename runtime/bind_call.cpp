#include "runtime/bind_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/checked.h"

namespace cellfuse {

namespace {

std::string listed(std::span<const TensorInfo> declared) {
  std::vector<std::string> names;
  for (const TensorInfo& info : declared) names.push_back(fmt::format("`{}`", info.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

int leading_axes(Leading leading) { return leading == Leading::TimeBatch ? 2 : (leading == Leading::Batch ? 1 : 0); }

[[noreturn]] void fail_unknown(const Slots& slots, const std::string& name) {
  if (slots.declared.empty()) throw UsageError(fmt::format("{} `{}`: this cell has none", slots.kind, name));
  throw UsageError(fmt::format("there is no {} `{}`; this cell has {}", slots.kind, name, listed(slots.declared)));
}

std::size_t index_of(const Slots& slots, const std::string& name) {
  const auto found = std::find_if(slots.declared.begin(), slots.declared.end(),
                                  [&](const TensorInfo& info) { return info.name == name; });
  if (found == slots.declared.end()) fail_unknown(slots, name);
  return static_cast<std::size_t>(found - slots.declared.begin());
}

/// The value's own axes must lie in row-major order without gaps: element strides, for each axis of more than one.
void check_inner_strides(const std::string& what, const TensorShape& shape, int first) {
  std::int64_t expected = 1;
  for (int axis = shape.rank(); axis-- > first;) {
    if (shape.size(axis) != 1 && shape.stride(axis) != expected) {
      throw UsageError(fmt::format("{}: axis {} of {} has stride {}, expected {}; only time and batch may have gaps",
                                   what, axis, shape.str(), shape.stride(axis), expected));
    }
    expected *= shape.size(axis);
  }
}

std::int64_t byte_stride(const TensorShape& shape, int axis, DType dtype, const std::string& what) {
  if (shape.size(axis) <= 1) return 0;
  const std::int64_t stride =
      checked_multiply(shape.stride(axis), static_cast<std::int64_t>(info(dtype).bytes), what.c_str());
  checked_multiply(stride, shape.size(axis), what.c_str());
  return stride;
}

}  // namespace

CallBinder::CallBinder(const SequenceArguments& arguments) : batch_major_(arguments.batch_major) {
  const auto given = [](Axis& axis, const std::optional<std::int64_t>& size, const char* name) {
    if (!size) return;
    if (*size < 0) throw UsageError(fmt::format("{}: expected a number from 0 up, got {}", name, *size));
    axis.size = *size;
    axis.from = fmt::format("argument `{}`", name);
  };
  given(steps_, arguments.steps, "steps");
  given(batch_, arguments.batch, "batch");
  if (!arguments.lengths.empty()) {
    agree(batch_, static_cast<std::int64_t>(arguments.lengths.size()), "argument `lengths`");
  }
}

void CallBinder::agree(Axis& axis, std::int64_t size, const std::string& what) {
  if (axis.size < 0) {
    axis.size = size;
    axis.from = what;
  } else if (axis.size != size) {
    throw UsageError(fmt::format("{}: {} is {}, but {} says {}", what, axis.name, size, axis.from, axis.size));
  }
}

std::string CallBinder::expected(const Slots& slots, const TensorInfo& info) const {
  std::vector<std::string> names;
  std::vector<std::string> sizes;
  const auto add = [&](const Axis& axis) {
    names.emplace_back(axis.name);
    sizes.push_back(axis.size < 0 ? "any" : std::to_string(axis.size));
  };
  if (slots.leading == Leading::TimeBatch) add(batch_major_ ? batch_ : steps_);
  if (slots.leading == Leading::TimeBatch) add(batch_major_ ? steps_ : batch_);
  if (slots.leading == Leading::Batch) add(batch_);
  const std::string own = info.dims.size() > 2 ? info.dims.substr(1, info.dims.size() - 2) : "";
  if (!own.empty()) names.push_back(own);
  for (const std::int64_t size : info.shape) sizes.push_back(std::to_string(size));
  const std::string symbolic = fmt::format("[{}]", fmt::join(names, ", "));
  const std::string actual = fmt::format("[{}]", fmt::join(sizes, ", "));
  return symbolic == actual ? symbolic : fmt::format("{} = {}", symbolic, actual);
}

void CallBinder::check_shape(const Slots& slots, const TensorInfo& info, const std::string& what,
                             const TensorShape& shape) {
  const int leading = leading_axes(slots.leading);
  bool fits = shape.rank() == leading + static_cast<int>(info.shape.size());
  for (std::size_t axis = 0; fits && axis < info.shape.size(); ++axis) {
    fits = shape.size(leading + static_cast<int>(axis)) == info.shape[axis];
  }
  if (!fits) throw UsageError(fmt::format("{}: expected {}, got {}", what, expected(slots, info), shape.str()));
  if (slots.leading == Leading::TimeBatch) agree(steps_, shape.size(batch_major_ ? 1 : 0), what);
  if (slots.leading == Leading::TimeBatch) agree(batch_, shape.size(batch_major_ ? 0 : 1), what);
  if (slots.leading == Leading::Batch) agree(batch_, shape.size(0), what);
  check_inner_strides(what, shape, leading);
}

Strided CallBinder::bind_one(const Slots& slots, const TensorInfo& info, std::byte* data, DType dtype,
                             const TensorShape& shape) {
  const std::string what = fmt::format("{} `{}`", slots.kind, info.name);
  if (dtype != info.dtype && dtype != slots.other_dtype.value_or(info.dtype)) {
    throw UsageError(
        fmt::format("{}: expected {}, got {}", what, cellfuse::info(info.dtype).name, cellfuse::info(dtype).name));
  }
  check_shape(slots, info, what, shape);
  Strided strided{data, 0, 0, dtype};
  if (slots.leading == Leading::TimeBatch) {
    strided.time_stride = byte_stride(shape, batch_major_ ? 1 : 0, dtype, what);
    strided.batch_stride = byte_stride(shape, batch_major_ ? 0 : 1, dtype, what);
  } else if (slots.leading == Leading::Batch) {
    strided.batch_stride = byte_stride(shape, 0, dtype, what);
  }
  for (int axis = 0; slots.written && shape.count() > 0 && axis < leading_axes(slots.leading); ++axis) {
    if (shape.size(axis) > 1 && shape.stride(axis) == 0) {
      throw UsageError(
          fmt::format("{}: axis {} of {} has stride 0, so its elements share memory", what, axis, shape.str()));
    }
  }
  if (shape.count() > 0) {
    if (data == nullptr) throw UsageError(what + ": its data pointer is null");
    if (reinterpret_cast<std::uintptr_t>(data) % cellfuse::info(dtype).bytes != 0) {
      throw UsageError(fmt::format("{}: its data pointer is not aligned to an element of {} bytes", what,
                                   cellfuse::info(dtype).bytes));
    }
    if (!slots.copied) seen_.push_back({what, data, slots.written});
  }
  return strided;
}

template <typename Named>
std::vector<Strided> CallBinder::bind_all(const Slots& slots, const std::vector<Named>& given) {
  std::vector<Strided> bound(slots.declared.size());
  std::vector<bool> found(slots.declared.size());
  for (const Named& named : given) {
    const std::size_t index = index_of(slots, named.name);
    if (found[index]) throw UsageError(fmt::format("{} `{}` is given twice", slots.kind, named.name));
    found[index] = true;
    auto* data = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(named.tensor.data())));
    bound[index] = bind_one(slots, slots.declared[index], data, named.tensor.dtype(), named.tensor.shape());
  }
  for (std::size_t i = 0; slots.required && i < found.size(); ++i) {
    if (found[i]) continue;
    throw UsageError(fmt::format("{} `{}` is missing: expected {} {}", slots.kind, slots.declared[i].name,
                                 info(slots.declared[i].dtype).name, expected(slots, slots.declared[i])));
  }
  return bound;
}

std::vector<Strided> CallBinder::bind(const Slots& slots, const ConstTensors& given) { return bind_all(slots, given); }
std::vector<Strided> CallBinder::bind(const Slots& slots, const Tensors& given) { return bind_all(slots, given); }

void CallBinder::check_aliases() const {
  for (const Seen& written : seen_) {
    if (!written.written) continue;
    for (const Seen& other : seen_) {
      if (&other != &written && other.data == written.data) {
        throw UsageError(fmt::format("{} and {} share memory", written.what, other.what));
      }
    }
  }
}

std::int64_t CallBinder::steps() const {
  if (steps_.size < 0) throw UsageError("the number of steps is unknown: no tensor has it; set `steps`");
  return steps_.size;
}

std::int64_t CallBinder::batch() const {
  if (batch_.size < 0) throw UsageError("the number of samples is unknown: no tensor has it; set `batch`");
  return batch_.size;
}

}  // namespace cellfuse
