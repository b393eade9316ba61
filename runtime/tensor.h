#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/dtype.h"

namespace cellfuse {

/// Sizes and strides of a tensor of at most `kMaxRank` axes; strides count elements.
class TensorShape {
 public:
  static constexpr int kMaxRank = 5;  ///< time, batch, and the axes of one sample's value

  TensorShape() = default;
  /// Row-major. Throws UsageError for more than kMaxRank axes, a negative size, or a size of more than 2^62 elements.
  TensorShape(std::initializer_list<std::int64_t> sizes);
  explicit TensorShape(std::span<const std::int64_t> sizes);
  TensorShape(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides);

  int rank() const { return rank_; }
  std::int64_t size(int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
  std::int64_t stride(int axis) const { return strides_[static_cast<std::size_t>(axis)]; }
  std::int64_t count() const;
  /// True when the elements lie in row-major order without gaps.
  bool contiguous() const;
  std::string str() const;  ///< `[64, 32, 256]`

 private:
  std::array<std::int64_t, kMaxRank> sizes_{};
  std::array<std::int64_t, kMaxRank> strides_{};
  int rank_ = 0;
};

/// The dtype of a C++ type: float, double.
template <typename T>
constexpr DType dtype_of() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "only float and double have a dtype");
  return std::is_same_v<T, float> ? DType::Float32 : DType::Float64;
}

/// Memory of the caller that is read. Not owned; without a value ("not given") when made by default.
class ConstTensorView {
 public:
  ConstTensorView() = default;
  ConstTensorView(const void* data, DType dtype, TensorShape shape) : data_(data), dtype_(dtype), shape_(shape) {}
  template <typename T>
  ConstTensorView(const T* data, TensorShape shape) : ConstTensorView(data, dtype_of<T>(), shape) {}

  const void* data() const { return data_; }
  DType dtype() const { return dtype_; }
  const TensorShape& shape() const { return shape_; }

 private:
  const void* data_ = nullptr;
  DType dtype_ = DType::Float32;
  TensorShape shape_;
};

/// Memory of the caller that is written.
class TensorView {
 public:
  TensorView() = default;
  TensorView(void* data, DType dtype, TensorShape shape) : data_(data), dtype_(dtype), shape_(shape) {}
  template <typename T>
    requires(!std::is_const_v<T>)
  TensorView(T* data, TensorShape shape) : TensorView(data, dtype_of<T>(), shape) {}
  operator ConstTensorView() const { return {data_, dtype_, shape_}; }  // NOLINT(google-explicit-constructor)

  void* data() const { return data_; }
  DType dtype() const { return dtype_; }
  const TensorShape& shape() const { return shape_; }

 private:
  void* data_ = nullptr;
  DType dtype_ = DType::Float32;
  TensorShape shape_;
};

/// Memory of our own, row-major, aligned to 64 bytes, zero at first. Moves; a copy is asked for with `clone`.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, TensorShape shape);

  DType dtype() const { return dtype_; }
  const TensorShape& shape() const { return shape_; }
  std::int64_t count() const { return shape_.count(); }
  void* data() { return data_.get(); }
  const void* data() const { return data_.get(); }
  /// The elements as T; throws UsageError when this is not the dtype.
  template <typename T>
  std::span<T> as() {
    check_dtype(dtype_of<T>());
    return {static_cast<T*>(data()), static_cast<std::size_t>(count())};
  }
  template <typename T>
  std::span<const T> as() const {
    check_dtype(dtype_of<T>());
    return {static_cast<const T*>(data()), static_cast<std::size_t>(count())};
  }

  operator ConstTensorView() const { return {data_.get(), dtype_, shape_}; }  // NOLINT(google-explicit-constructor)
  operator TensorView() { return {data_.get(), dtype_, shape_}; }             // NOLINT(google-explicit-constructor)

  Tensor clone() const;
  void fill(double value);
  /// Rounds `values`, in row-major order, to the dtype. Throws UsageError when there are not count() of them.
  void assign(std::span<const double> values);
  std::vector<double> to_doubles() const;

 private:
  struct Free {
    void operator()(void* data) const noexcept;
  };
  void check_dtype(DType wanted) const;

  std::unique_ptr<void, Free> data_;
  DType dtype_ = DType::Float32;
  TensorShape shape_;
};

/// Converts `count` neighbouring elements, rounding to nearest even. The two ranges do not overlap.
void convert(const void* from, DType from_dtype, void* to, DType to_dtype, std::int64_t count);

}  // namespace cellfuse
