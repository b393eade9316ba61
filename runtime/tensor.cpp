#include "runtime/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "ir/diagnostic.h"
#include "runtime/checked.h"

namespace cellfuse {

namespace {

constexpr std::size_t kAlignment = 64;

void check_rank(std::size_t rank) {
  if (rank > TensorShape::kMaxRank) {
    throw UsageError(fmt::format("a tensor has at most {} axes, not {}", TensorShape::kMaxRank, rank));
  }
}

}  // namespace

TensorShape::TensorShape(std::initializer_list<std::int64_t> sizes)
    : TensorShape(std::span<const std::int64_t>(sizes.begin(), sizes.size())) {}

TensorShape::TensorShape(std::span<const std::int64_t> sizes) {
  check_rank(sizes.size());
  rank_ = static_cast<int>(sizes.size());
  std::int64_t stride = 1;
  for (auto axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] < 0) throw UsageError(fmt::format("a tensor cannot have shape [{}]", fmt::join(sizes, ", ")));
    sizes_[axis] = sizes[axis];
    strides_[axis] = stride;
    stride = checked_multiply(stride, std::max<std::int64_t>(sizes[axis], 1), "elements of a tensor");
  }
  if (stride > (std::int64_t{1} << 62)) throw UsageError("a tensor has more than 2^62 elements");
}

TensorShape::TensorShape(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides)
    : TensorShape(sizes) {
  if (strides.size() != sizes.size()) {
    throw UsageError(fmt::format("a tensor with {} axes was given {} strides", sizes.size(), strides.size()));
  }
  std::copy(strides.begin(), strides.end(), strides_.begin());
}

std::int64_t TensorShape::count() const {
  std::int64_t count = 1;
  for (int axis = 0; axis < rank_; ++axis) count *= size(axis);
  return count;
}

bool TensorShape::contiguous() const {
  if (count() == 0) return true;
  std::int64_t expected = 1;
  for (int axis = rank_; axis-- > 0;) {
    if (size(axis) != 1 && stride(axis) != expected) return false;
    expected *= size(axis);
  }
  return true;
}

std::string TensorShape::str() const {
  return fmt::format("[{}]", fmt::join(sizes_.begin(), sizes_.begin() + rank_, ", "));
}

void Tensor::Free::operator()(void* data) const noexcept { std::free(data); }

Tensor::Tensor(DType dtype, TensorShape shape) : dtype_(dtype), shape_(shape) {
  if (!shape.contiguous()) throw UsageError("a tensor of our own has no gaps");
  const auto bytes = checked_bytes(shape.count(), dtype, "bytes of a tensor");
  const std::size_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  data_.reset(std::aligned_alloc(kAlignment, std::max(padded, kAlignment)));
  if (!data_) throw std::bad_alloc();
  std::memset(data_.get(), 0, bytes);
}

void Tensor::check_dtype(DType wanted) const {
  if (dtype_ != wanted) {
    throw UsageError(fmt::format("a {} tensor was used as {}", info(dtype_).name, info(wanted).name));
  }
}

Tensor Tensor::clone() const {
  if (!data_) return {};
  Tensor copy(dtype_, shape_);
  std::memcpy(copy.data(), data(), static_cast<std::size_t>(count()) * info(dtype_).bytes);
  return copy;
}

void Tensor::fill(double value) { assign(std::vector<double>(static_cast<std::size_t>(count()), value)); }

void Tensor::assign(std::span<const double> values) {
  if (static_cast<std::int64_t>(values.size()) != count()) {
    throw UsageError(fmt::format("a tensor {} was given {} values", shape_.str(), values.size()));
  }
  convert(values.data(), DType::Float64, data(), dtype_, count());
}

std::vector<double> Tensor::to_doubles() const {
  std::vector<double> values(static_cast<std::size_t>(count()));
  convert(data(), dtype_, values.data(), DType::Float64, count());
  return values;
}

}  // namespace cellfuse
