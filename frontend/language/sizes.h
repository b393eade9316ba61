#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/language/reporter.h"
#include "frontend/language/value.h"

namespace cellfuse {

/// Largest size of one axis, and largest number of elements of a value.
inline constexpr std::int64_t kMaxAxisSize = std::int64_t{1} << 31U;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40U;

/// Arithmetic and comparison of sizes, symbolic where dimensions are unbound. Two sizes that are neither equal nor
/// provably different become a requirement of the cell ("needs I == H").
class Sizes {
 public:
  Sizes(const DimBinding& binding, Reporter& reporter) : binding_(binding), reporter_(reporter) {}

  Axis axis(const Dim& dim) const { return {dim, dim.evaluate(binding_)}; }
  std::optional<std::int64_t> evaluate(const Dim& dim) const { return dim.evaluate(binding_); }
  std::optional<double> evaluate_real(const Dim& dim) const { return dim.evaluate_real(binding_); }

  /// True when the sizes agree or may agree; then the requirement is noted down. False when they differ for sure.
  bool agree(const Axis& a, const Axis& b, const Span& span);
  /// The same for `a <= b`.
  bool at_most(const Dim& a, const Dim& b, const Span& span);

  /// NumPy's rule; only an axis written as 1 stretches. std::nullopt when the shapes do not fit.
  std::optional<Axes> broadcast(const Axes& a, const Axes& b, const Span& span);

  /// Reports axes that are not positive or too large. False when there are any.
  bool check_limits(const Axes& axes, const Span& span);

  /// With the values of the dimensions in them: " (H = 4, I = 3)"; empty when one is unbound or there is none.
  std::string values_of(const std::vector<Dim>& dims) const;
  std::string values_of(const Axes& a, const Axes& b) const;

  /// A name that stands for a number which is not known and not asked of the user: the counter of a loop.
  void add_unknown(const std::string& name) { unknown_.insert(name); }
  bool is_unknown(const std::string& name) const { return unknown_.contains(name); }
  void remove_unknown(const std::string& name) { unknown_.erase(name); }

  /// Requirements noted down so far; `forget_requirements` drops those behind a count.
  std::size_t requirement_count() const { return requirements_.size(); }
  void forget_requirements(std::size_t count) {
    requirements_.erase(requirements_.begin() + static_cast<std::ptrdiff_t>(count), requirements_.end());
  }
  /// Warns once for each requirement that was noted down.
  void report_requirements();

 private:
  enum class Relation : std::uint8_t { Equal, AtMost };
  struct Requirement {
    Dim left;
    Relation relation;
    Dim right;
    Span span;
  };
  bool is_required(const Dim& a, Relation relation, const Dim& b) const;
  void require(const Dim& a, Relation relation, const Dim& b, const Span& span);

  const DimBinding& binding_;
  Reporter& reporter_;
  std::set<std::string> unknown_;
  std::vector<Requirement> requirements_;
};

}  // namespace cellfuse
