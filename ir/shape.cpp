#include "ir/shape.h"

#include <algorithm>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

template <typename Print>
std::string bracketed(const Shape& shape, Print print) {
  std::string text = "[";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ", ";
    text += print(shape[axis]);
  }
  return text + "]";
}

}  // namespace

Shape::Shape(std::initializer_list<Extent> extents) {
  for (const Extent& extent : extents) push_back(extent);
}

void Shape::push_back(const Extent& extent) {
  check_internal(rank_ < kMaxRank, "Shape::push_back", "rank too high");
  extents_[static_cast<std::size_t>(rank_++)] = extent;
}

std::int64_t Shape::count() const {
  std::int64_t product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= (*this)[axis].size;
  return product;
}

std::int64_t Shape::stride(int axis) const {
  std::int64_t product = 1;
  for (int inner = axis + 1; inner < rank_; ++inner) product *= (*this)[inner].size;
  return product;
}

Shape Shape::without(int axis) const {
  Shape result;
  for (int i = 0; i < rank_; ++i) {
    if (i != axis) result.push_back((*this)[i]);
  }
  return result;
}

Shape Shape::with(int axis, const Extent& extent) const {
  Shape result = *this;
  result[axis] = extent;
  return result;
}

bool operator==(const Shape& a, const Shape& b) {
  return std::equal(a.extents_.begin(), a.extents_.begin() + a.rank_, b.extents_.begin(), b.extents_.begin() + b.rank_);
}

std::string Shape::str() const {
  return bracketed(*this, [](const Extent& extent) { return extent.dim.str(); });
}

std::string Shape::sizes() const {
  return bracketed(*this, [](const Extent& extent) { return std::to_string(extent.size); });
}

bool broadcast_shapes(const Shape& a, const Shape& b, Shape& result) {
  const int rank = std::max(a.rank(), b.rank());
  Shape common;
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - a.rank());
    const int in_b = axis - (rank - b.rank());
    const Extent left = in_a >= 0 ? a[in_a] : Extent();
    const Extent right = in_b >= 0 ? b[in_b] : Extent();
    if (left.size != right.size && left.size != 1 && right.size != 1) return false;
    common.push_back(left.size == 1 ? right : left);
  }
  result = common;
  return true;
}

}  // namespace cellfuse
