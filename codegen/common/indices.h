#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace cellfuse::codegen {

/// An integer known up to variables: constant + sum of coefficient * variable.
struct Linear {
  std::int64_t constant = 0;
  std::vector<std::pair<int, std::int64_t>> terms;  ///< variable, coefficient; by variable, no coefficient 0

  Linear() = default;
  Linear(std::int64_t constant) : constant(constant) {}  // NOLINT(google-explicit-constructor): a number is an integer
  static Linear variable(int variable);

  std::int64_t coefficient(int variable) const;
  friend Linear operator+(const Linear& a, const Linear& b);
  friend Linear operator*(std::int64_t factor, const Linear& a);
  friend bool operator==(const Linear& a, const Linear& b) = default;
  friend auto operator<=>(const Linear& a, const Linear& b) = default;
};

/// A position in a value: an integer an axis.
using Index = std::vector<Linear>;

/// An integer that code has under a name: the index of a loop, the number of a thread or a lane, or a part of such.
struct IndexVariable {
  std::int64_t last = 0;      ///< largest value; the smallest is 0
  std::int64_t multiple = 1;  ///< of which it is a multiple
  int scope = 0;              ///< how deep in the loops it is known
  bool lane = false;          ///< the number of the lane in a vector

  /// For what a division makes: numerator / divisor, or its remainder.
  struct Part {
    Linear numerator;
    std::int64_t divisor = 1;
    bool remainder = false;
  };
  std::optional<Part> part;
};

/// The variables of a piece of code, and where views lead an index made of them. A division of what is not divisible
/// term by term makes a new variable.
class Indices {
 public:
  /// `lanes`: elements of a vector, 1 without vectors.
  explicit Indices(std::int64_t lanes) : lanes_(lanes) {}

  Linear define(const IndexVariable& variable);
  const IndexVariable& variable(int id) const { return variables_[static_cast<std::size_t>(id)]; }

  /// The row-major number of the element.
  Linear flat(const Shape& shape, const Index& index) const;
  /// The position of the row-major number `element`.
  Index position(const Shape& shape, const Linear& element);
  /// The index of the operand of a view (Slice, Reshape, Transpose, Broadcast) that an index of its result leads to.
  Index through_view(const Node& view, const Shape& operand, const Index& index);

  /// Smallest and largest value.
  std::pair<std::int64_t, std::int64_t> range(const Linear& a) const;
  /// Of which it is a multiple: the greatest that the variables tell.
  std::int64_t common_factor(const Linear& a) const;
  /// Deepest scope of its variables.
  int scope(const Linear& a) const;
  /// Whether it depends on the number of the lane.
  bool is_vector(const Linear& a) const;
  /// Without the number of the lane, and the distance from lane to lane; nullopt where there is no fixed one.
  std::optional<std::pair<Linear, std::int64_t>> lane_stride(const Linear& a) const;

 private:
  Linear recombine(Linear a) const;
  std::pair<Linear, Linear> divide(const Linear& a, std::int64_t divisor);
  std::pair<Linear, Linear> divide_in_code(const Linear& a, std::int64_t divisor);
  Linear find_or_define(const IndexVariable& variable);

  std::int64_t lanes_;
  std::vector<IndexVariable> variables_;
};

}  // namespace cellfuse::codegen
