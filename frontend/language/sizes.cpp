#include "frontend/language/sizes.h"

#include <algorithm>
#include <utility>

namespace cellfuse {

namespace {

constexpr std::size_t kMaxRequirements = 50;

bool is_one(const Axis& axis) { return axis.dim.constant() == 1; }

template <typename Print>
std::string bracketed(const Axes& axes, Print print) {
  std::string text = "[";
  for (const Axis& axis : axes) {
    if (text.size() > 1) text += ", ";
    text += print(axis);
  }
  return text + "]";
}

}  // namespace

std::string describe(const Axes& axes) {
  if (axes.empty()) return "a scalar";
  return bracketed(axes, [](const Axis& axis) { return axis.dim.str(); });
}

std::string describe_sizes(const Axes& axes) {
  bool symbolic = false;
  for (const Axis& axis : axes) {
    if (!axis.size) return {};
    symbolic = symbolic || !axis.dim.constant();
  }
  return symbolic ? bracketed(axes, [](const Axis& axis) { return std::to_string(*axis.size); }) : std::string();
}

bool Sizes::agree(const Axis& a, const Axis& b, const Span& span) {
  if (a.dim == b.dim) return true;
  if (a.size && b.size) return *a.size == *b.size;
  if (is_required(a.dim, Relation::Equal, b.dim)) return true;
  if (provably_different(a.dim, b.dim)) return false;
  require(a.dim, Relation::Equal, b.dim, span);
  return true;
}

bool Sizes::at_most(const Dim& a, const Dim& b, const Span& span) {
  const Dim room = b - a;
  if (const std::optional<std::int64_t> value = evaluate(room)) return *value >= 0;
  if ((room + Dim(1)).provably_positive()) return true;
  if ((Dim(0) - room).provably_positive()) return false;
  require(a, Relation::AtMost, b, span);
  return true;
}

std::optional<Axes> Sizes::broadcast(const Axes& a, const Axes& b, const Span& span) {
  const Axes& longer = a.size() >= b.size() ? a : b;
  const Axes& shorter = a.size() >= b.size() ? b : a;
  Axes result = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    Axis& axis = result[lead + i];
    if (is_one(shorter[i])) continue;
    if (is_one(axis)) {
      axis = shorter[i];
    } else if (!agree(axis, shorter[i], span)) {
      return std::nullopt;
    }
  }
  return result;
}

bool Sizes::check_limits(const Axes& axes, const Span& span) {
  std::int64_t elements = 1;
  for (const Axis& axis : axes) {
    const bool positive = axis.size ? *axis.size >= 1 : !(Dim(1) - axis.dim).provably_positive();
    if (!positive) {
      const bool plain = axis.dim.constant().has_value();
      const std::string value = axis.size && !plain ? " is " + std::to_string(*axis.size) : "";
      reporter_.error(span, "the size " + axis.dim.str() + value + values_of({axis.dim}) +
                                (value.empty() ? " is not positive" : ", which is not positive"));
      return false;
    }
    if (!axis.size) continue;
    if (*axis.size > kMaxAxisSize) {
      reporter_.error(span, "the size " + axis.dim.str() + values_of({axis.dim}) + " is more than 2^31");
      return false;
    }
    if (*axis.size > kMaxElements / elements) {
      reporter_.error(span, "a value of shape " + describe(axes) + " has more than 2^40 elements");
      return false;
    }
    elements *= *axis.size;
  }
  return true;
}

std::string Sizes::values_of(const std::vector<Dim>& dims) const {
  std::set<std::string> names;
  for (const Dim& dim : dims) {
    for (const std::string& name : dim.symbols()) names.insert(name);
  }
  std::string text;
  for (const std::string& name : names) {
    const auto bound = binding_.find(name);
    if (bound == binding_.end()) return {};
    text += (text.empty() ? " (" : ", ") + name + " = " + std::to_string(bound->second);
  }
  return text.empty() ? text : text + ")";
}

std::string Sizes::values_of(const Axes& a, const Axes& b) const {
  std::vector<Dim> dims;
  for (const Axis& axis : a) dims.push_back(axis.dim);
  for (const Axis& axis : b) dims.push_back(axis.dim);
  return values_of(dims);
}

bool Sizes::is_required(const Dim& a, Relation relation, const Dim& b) const {
  return std::ranges::any_of(requirements_, [&](const Requirement& old) {
    const bool mirrored = relation == Relation::Equal && old.left == b && old.right == a;
    return old.relation == relation && ((old.left == a && old.right == b) || mirrored);
  });
}

void Sizes::require(const Dim& a, Relation relation, const Dim& b, const Span& span) {
  if (requirements_.size() >= kMaxRequirements || is_required(a, relation, b)) return;
  for (const Dim& side : {a, b}) {
    for (const std::string& name : side.symbols()) {
      if (unknown_.contains(name)) return;
    }
  }
  requirements_.push_back({a, relation, b, span});
}

void Sizes::report_requirements() {
  for (const Requirement& needed : requirements_) {
    const std::string sign = needed.relation == Relation::Equal ? " == " : " <= ";
    reporter_.warning(needed.span, "this cell needs " + needed.left.str() + sign + needed.right.str());
  }
  requirements_.clear();
}

}  // namespace cellfuse
