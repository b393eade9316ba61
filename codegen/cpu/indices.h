#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cpu/scopes.h"
#include "ir/graph.h"

namespace cellfuse::cpu {

/// An integer known up to variables: constant + sum of coefficient * variable.
struct Linear {
  std::int64_t constant = 0;
  std::vector<std::pair<int, std::int64_t>> terms;  ///< variable, coefficient; by variable, no coefficient 0

  Linear() = default;
  Linear(std::int64_t constant) : constant(constant) {}  // NOLINT(google-explicit-constructor)

  std::int64_t coefficient(int variable) const;
  friend Linear operator+(const Linear& a, const Linear& b);
  friend Linear operator*(std::int64_t factor, const Linear& a);
  friend bool operator==(const Linear& a, const Linear& b) = default;
  friend auto operator<=>(const Linear& a, const Linear& b) = default;
};

/// A position in a value: an integer an axis.
using Index = std::vector<Linear>;
/// An interned Index.
using IndexId = int;

/// Where in a value an element is, as the loops of a nest, the lanes of a vector and the views in between say.
class Indices {
 public:
  Indices(const Unit& unit, Scopes& scopes) : unit_(unit), scopes_(scopes) {}

  /// The index of a loop: a multiple of `multiple` in [0, last].
  Linear loop_variable(llvm::Value* value, int scope, std::int64_t last, std::int64_t multiple);
  /// The number of the lane, of which the first `live` count.
  Linear lane_variable(int live);

  IndexId intern(const Index& index);
  const Index& operator[](IndexId id) const { return indices_[static_cast<std::size_t>(id)]; }

  /// The index of the operand of a view (Slice, Reshape, Transpose, Broadcast) that an index of its result leads to.
  IndexId through_view(const Node& view, const Shape& operand, IndexId index);
  /// Row-major number of the element.
  Linear flat(const Shape& shape, const Index& index) const;

  /// Smallest and largest value.
  std::pair<std::int64_t, std::int64_t> range(const Linear& a) const;
  /// Whether it differs from lane to lane.
  bool is_vector(const Linear& a) const;
  /// Whether neighbouring lanes are neighbouring integers; `base` is the integer of the first lane.
  bool is_contiguous(const Linear& a, Linear& base) const;
  /// Lanes that count: null for all.
  llvm::Value* mask(const Linear& a) const;
  /// Deepest scope of its variables.
  int scope(const Linear& a) const;
  /// As code, in scope(a): a 64-bit integer, or a vector of 32-bit ones.
  llvm::Value* value(const Linear& a);

 private:
  struct Variable {
    llvm::Value* value = nullptr;  ///< 64-bit integer, or a vector of 32-bit ones
    bool vector = false;
    bool lane_number = false;  ///< 0, 1, 2 ...
    int scope = 0;
    std::int64_t last = 0;  ///< largest value; the smallest is 0
    std::int64_t multiple = 1;
    llvm::Value* mask = nullptr;
  };

  Linear define(Variable variable);
  std::pair<Linear, Linear> divide(const Linear& a, std::int64_t divisor);
  std::pair<Linear, Linear> divide_in_code(const Linear& a, std::int64_t divisor);
  std::int64_t common_factor(const Linear& a) const;
  Index reshape(const Shape& from, const Shape& to, const Index& index);

  const Unit& unit_;
  Scopes& scopes_;
  std::vector<Variable> variables_;
  std::vector<Index> indices_;
  std::map<Index, IndexId> ids_;
  std::map<Linear, llvm::Value*> values_;
  std::map<std::pair<Linear, std::int64_t>, std::pair<Linear, Linear>> divisions_;
};

}  // namespace cellfuse::cpu
