#include "codegen/common/indices.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "ir/diagnostic.h"

namespace cellfuse::codegen {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b < 0 ? q - 1 : q;
}

}  // namespace

Linear Linear::variable(int variable) {
  Linear result;
  result.terms.emplace_back(variable, 1);
  return result;
}

std::int64_t Linear::coefficient(int variable) const {
  for (const auto& [v, c] : terms) {
    if (v == variable) return c;
  }
  return 0;
}

Linear operator+(const Linear& a, const Linear& b) {
  Linear sum(a.constant + b.constant);
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    if (right == b.terms.end() || (left != a.terms.end() && left->first < right->first)) {
      sum.terms.push_back(*left++);
    } else if (left == a.terms.end() || right->first < left->first) {
      sum.terms.push_back(*right++);
    } else {
      const std::int64_t c = left->second + right->second;
      if (c != 0) sum.terms.emplace_back(left->first, c);
      ++left;
      ++right;
    }
  }
  return sum;
}

Linear operator*(std::int64_t factor, const Linear& a) {
  if (factor == 0) return {};
  Linear product(factor * a.constant);
  for (const auto& [v, c] : a.terms) product.terms.emplace_back(v, factor * c);
  return product;
}

Linear Indices::define(const IndexVariable& variable) {
  if (variable.last == 0) return {};
  variables_.push_back(variable);
  return Linear::variable(static_cast<int>(variables_.size()) - 1);
}

Linear Indices::find_or_define(const IndexVariable& variable) {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const auto& part = variables_[i].part;
    const bool same = part && part->numerator == variable.part->numerator && part->divisor == variable.part->divisor &&
                      part->remainder == variable.part->remainder;
    if (same) return Linear::variable(static_cast<int>(i));
  }
  return define(variable);
}

/// c * divisor * (a / divisor) + c * (a % divisor) is c * a.
Linear Indices::recombine(Linear a) const {
  for (const auto& [remainder, c] : Linear(a).terms) {
    const auto& part = variable(remainder).part;
    if (!part || !part->remainder) continue;
    for (const auto& [quotient, d] : Linear(a).terms) {
      const auto& other = variable(quotient).part;
      const bool match = other && !other->remainder && other->numerator == part->numerator &&
                         other->divisor == part->divisor && d == c * part->divisor;
      if (!match) continue;
      a = a + (-c) * Linear::variable(remainder) + (-d) * Linear::variable(quotient) + c * part->numerator;
      return recombine(a);
    }
  }
  return a;
}

Linear Indices::flat(const Shape& shape, const Index& index) const {
  Linear sum;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    sum = sum + shape.stride(axis) * index[static_cast<std::size_t>(axis)];
  }
  return recombine(sum);
}

Index Indices::position(const Shape& shape, const Linear& element) {
  Linear rest = element;
  Index result(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis > 0; --axis) {
    auto [quotient, remainder] = divide(rest, shape[axis].size);
    result[static_cast<std::size_t>(axis)] = remainder;
    rest = quotient;
  }
  if (shape.rank() > 0) result[0] = shape[0].size == 1 ? Linear() : rest;
  return result;
}

Index Indices::through_view(const Node& view, const Shape& operand, const Index& index) {
  Index result = index;
  const auto axis = static_cast<std::size_t>(view.axis);
  switch (view.op) {
    case Op::Slice: result[axis] = result[axis] + Linear(view.begin); return result;
    case Op::Transpose: std::swap(result[0], result[1]); return result;
    case Op::Reshape: return position(operand, flat(view.shape, index));
    case Op::Broadcast:
      result.clear();
      for (int i = 0; i < operand.rank(); ++i) {
        const auto to = static_cast<std::size_t>(view.axes[static_cast<std::size_t>(i)]);
        result.push_back(operand[i].size == 1 ? Linear() : index[to]);
      }
      return result;
    default: throw InternalError("codegen", "not a view: " + std::string(name(view.op)));
  }
}

std::pair<std::int64_t, std::int64_t> Indices::range(const Linear& a) const {
  std::int64_t low = a.constant;
  std::int64_t high = a.constant;
  for (const auto& [v, c] : a.terms) (c > 0 ? high : low) += c * variable(v).last;
  return {low, high};
}

std::int64_t Indices::common_factor(const Linear& a) const {
  std::int64_t factor = std::abs(a.constant);
  for (const auto& [v, c] : a.terms) factor = std::gcd(factor, std::abs(c) * variable(v).multiple);
  return factor;
}

int Indices::scope(const Linear& a) const {
  int deepest = 0;
  for (const auto& term : a.terms) deepest = std::max(deepest, variable(term.first).scope);
  return deepest;
}

namespace {

/// The part of `a` whose variables depend on the lane, and the rest.
std::pair<Linear, Linear> split_lanes(const Indices& indices, const Linear& a) {
  Linear lanes;
  Linear rest(a.constant);
  for (const auto& term : a.terms) {
    const IndexVariable& variable = indices.variable(term.first);
    const bool vector = variable.lane || (variable.part && indices.is_vector(variable.part->numerator));
    (vector ? lanes : rest).terms.push_back(term);
  }
  return {lanes, rest};
}

}  // namespace

bool Indices::is_vector(const Linear& a) const { return !split_lanes(*this, a).first.terms.empty(); }

std::optional<std::pair<Linear, std::int64_t>> Indices::lane_stride(const Linear& a) const {
  const auto [lanes, rest] = split_lanes(*this, a);
  if (lanes.terms.empty()) return std::pair{rest, std::int64_t{0}};
  if (lanes.terms.size() > 1 || !variable(lanes.terms[0].first).lane) return std::nullopt;
  return std::pair{rest, lanes.terms[0].second};
}

std::pair<Linear, Linear> Indices::divide_in_code(const Linear& a, std::int64_t divisor) {
  IndexVariable variable;
  variable.scope = scope(a);
  variable.part = IndexVariable::Part{a, divisor, false};
  variable.last = range(a).second / divisor;
  const Linear quotient = find_or_define(variable);
  variable.part->remainder = true;
  variable.multiple = std::gcd(common_factor(a), divisor);
  variable.last = divisor - variable.multiple;
  return {quotient, find_or_define(variable)};
}

// a = divisor * quotient + remainder. What is divisible term by term stays linear; the rest is divided in code, once
// for a whole vector where its lanes cannot straddle a multiple of the divisor.
std::pair<Linear, Linear> Indices::divide(const Linear& a, std::int64_t divisor) {
  if (divisor == 1) return {a, {}};
  Linear whole(floor_div(a.constant, divisor));
  Linear rest(a.constant - divisor * whole.constant);
  for (const auto& [v, c] : a.terms) {
    if (c % divisor == 0) {
      whole.terms.emplace_back(v, c / divisor);
    } else {
      rest.terms.emplace_back(v, c);
    }
  }
  auto [low, high] = range(rest);
  check_internal(low >= 0, "codegen", "division of an index that may be negative");
  if (high < divisor) return {whole, rest};
  const auto stride = lane_stride(rest);
  if (stride && stride->second == 1 && divisor % lanes_ == 0 && common_factor(stride->first) % lanes_ == 0) {
    auto [q, r] = divide_in_code(stride->first, divisor);
    return {whole + q, rest + (-1) * stride->first + r};
  }
  auto [q, r] = divide_in_code(rest, divisor);
  return {whole + q, r};
}

}  // namespace cellfuse::codegen
