#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "ir/dim.h"

namespace cellfuse {

/// One axis of a value: its size, and the expression the user wrote for it (for printing only).
struct Extent {
  std::int64_t size = 1;
  Dim dim = 1;

  Extent() = default;
  Extent(std::int64_t size) : size(size), dim(size) {}  // NOLINT(google-explicit-constructor)
  Extent(std::int64_t size, Dim dim) : size(size), dim(std::move(dim)) {}

  friend bool operator==(const Extent& a, const Extent& b) { return a.size == b.size; }
  friend Extent operator+(const Extent& a, const Extent& b) { return {a.size + b.size, a.dim + b.dim}; }
  friend Extent operator*(const Extent& a, const Extent& b) { return {a.size * b.size, a.dim * b.dim}; }
};

/// Shape of one sample's value at one step: rank 0 (a scalar) to 3 (the language has 0 to 2; `repeat` and `tile` of
/// a matrix pass through 3). Row-major.
class Shape {
 public:
  static constexpr int kMaxRank = 3;

  Shape() = default;
  Shape(std::initializer_list<Extent> extents);

  int rank() const { return rank_; }
  const Extent& operator[](int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
  Extent& operator[](int axis) { return extents_[static_cast<std::size_t>(axis)]; }
  void push_back(const Extent& extent);

  /// Number of elements; the caller keeps it below 2^63.
  std::int64_t count() const;
  /// Elements between neighbours along `axis`.
  std::int64_t stride(int axis) const;
  Shape without(int axis) const;
  Shape with(int axis, const Extent& extent) const;

  friend bool operator==(const Shape& a, const Shape& b);

  /// `[4*H, I]`, or `[]` for a scalar.
  std::string str() const;
  /// `[2048, 512]`.
  std::string sizes() const;

 private:
  std::array<Extent, kMaxRank> extents_{};
  int rank_ = 0;
};

/// NumPy's rule: the common shape, or false when the two do not broadcast.
bool broadcast_shapes(const Shape& a, const Shape& b, Shape& result);

}  // namespace cellfuse
