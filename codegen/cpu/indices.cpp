#include "codegen/cpu/indices.h"

#include <algorithm>
#include <numeric>

#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  return a % b < 0 ? q - 1 : q;
}

llvm::Constant* lane_numbers(const Unit& unit) {
  std::vector<llvm::Constant*> numbers;
  for (int lane = 0; lane < unit.lanes; ++lane) {
    numbers.push_back(llvm::ConstantInt::get(unit.i32(), static_cast<std::uint64_t>(lane)));
  }
  return llvm::ConstantVector::get(numbers);
}

llvm::Constant* first_lanes(const Unit& unit, int live) {
  std::vector<llvm::Constant*> bits;
  for (int lane = 0; lane < unit.lanes; ++lane) {
    bits.push_back(llvm::ConstantInt::getBool(unit.context(), lane < live));
  }
  return llvm::ConstantVector::get(bits);
}

}  // namespace

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

Linear Indices::define(Variable variable) {
  Linear result;
  result.terms.emplace_back(static_cast<int>(variables_.size()), 1);
  variables_.push_back(variable);
  return result;
}

Linear Indices::loop_variable(llvm::Value* value, int scope, std::int64_t last, std::int64_t multiple) {
  Variable variable;
  variable.value = value;
  variable.scope = scope;
  variable.last = last;
  variable.multiple = multiple;
  return define(variable);
}

Linear Indices::lane_variable(int live) {
  Variable variable;
  variable.value = lane_numbers(unit_);
  variable.vector = true;
  variable.lane_number = true;
  variable.last = live - 1;
  if (live < unit_.lanes) variable.mask = first_lanes(unit_, live);
  return define(variable);
}

IndexId Indices::intern(const Index& index) {
  auto [it, is_new] = ids_.try_emplace(index, static_cast<IndexId>(indices_.size()));
  if (is_new) indices_.push_back(index);
  return it->second;
}

IndexId Indices::through_view(const Node& view, const Shape& operand, IndexId id) {
  Index index = (*this)[id];
  const auto axis = static_cast<std::size_t>(view.axis);
  switch (view.op) {
    case Op::Slice: index[axis] = index[axis] + Linear(view.begin); break;
    case Op::Transpose: std::swap(index[0], index[1]); break;
    case Op::Reshape: index = reshape(view.shape, operand, index); break;
    case Op::Broadcast: {
      Index from;
      for (int i = 0; i < operand.rank(); ++i) {
        const auto to = static_cast<std::size_t>(view.axes[static_cast<std::size_t>(i)]);
        from.push_back(operand[i].size == 1 ? Linear() : index[to]);
      }
      index = from;
      break;
    }
    default: throw InternalError("codegen/cpu", "not a view: " + std::string(name(view.op)));
  }
  return intern(index);
}

Linear Indices::flat(const Shape& shape, const Index& index) const {
  Linear sum;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    sum = sum + shape.stride(axis) * index[static_cast<std::size_t>(axis)];
  }
  return sum;
}

Index Indices::reshape(const Shape& from, const Shape& to, const Index& index) {
  Linear rest = flat(from, index);
  Index result(static_cast<std::size_t>(to.rank()));
  for (int axis = to.rank() - 1; axis > 0; --axis) {
    auto [quotient, remainder] = divide(rest, to[axis].size);
    result[static_cast<std::size_t>(axis)] = remainder;
    rest = quotient;
  }
  if (to.rank() > 0) result[0] = to[0].size == 1 ? Linear() : rest;
  return result;
}

std::pair<std::int64_t, std::int64_t> Indices::range(const Linear& a) const {
  std::int64_t low = a.constant;
  std::int64_t high = a.constant;
  for (const auto& [v, c] : a.terms) (c > 0 ? high : low) += c * variables_[static_cast<std::size_t>(v)].last;
  return {low, high};
}

bool Indices::is_vector(const Linear& a) const {
  return std::ranges::any_of(a.terms,
                             [&](const auto& term) { return variables_[static_cast<std::size_t>(term.first)].vector; });
}

bool Indices::is_contiguous(const Linear& a, Linear& base) const {
  base = Linear(a.constant);
  int lanes = 0;
  for (const auto& [v, c] : a.terms) {
    const Variable& variable = variables_[static_cast<std::size_t>(v)];
    if (!variable.vector) {
      base.terms.emplace_back(v, c);
    } else if (c != 1 || !variable.lane_number) {
      return false;
    } else {
      ++lanes;
    }
  }
  return lanes == 1;
}

llvm::Value* Indices::mask(const Linear& a) const {
  for (const auto& term : a.terms) {
    if (llvm::Value* mask = variables_[static_cast<std::size_t>(term.first)].mask) return mask;
  }
  return nullptr;
}

int Indices::scope(const Linear& a) const {
  int deepest = 0;
  for (const auto& term : a.terms) deepest = std::max(deepest, variables_[static_cast<std::size_t>(term.first)].scope);
  return deepest;
}

std::int64_t Indices::common_factor(const Linear& a) const {
  std::int64_t factor = std::abs(a.constant);
  for (const auto& [v, c] : a.terms) {
    factor = std::gcd(factor, std::abs(c) * variables_[static_cast<std::size_t>(v)].multiple);
  }
  return factor;
}

std::pair<Linear, Linear> Indices::divide_in_code(const Linear& a, std::int64_t divisor) {
  auto [it, is_new] = divisions_.try_emplace({a, divisor});
  if (!is_new) return it->second;
  llvm::Value* numerator = value(a);
  Variable variable;
  variable.vector = is_vector(a);
  variable.scope = scope(a);
  variable.mask = mask(a);

  Builder& builder = scopes_.at(variable.scope);
  llvm::Value* by = llvm::ConstantInt::get(numerator->getType(), static_cast<std::uint64_t>(divisor));
  variable.value = builder.CreateUDiv(numerator, by);
  variable.last = range(a).second / divisor;
  llvm::Value* remainder = builder.CreateSub(numerator, builder.CreateMul(variable.value, by));
  it->second.first = define(variable);
  variable.value = remainder;
  variable.multiple = std::gcd(common_factor(a), divisor);
  variable.last = divisor - variable.multiple;
  it->second.second = define(variable);
  return it->second;
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
  check_internal(low >= 0, "codegen/cpu", "division of an index that may be negative");
  if (high < divisor) return {whole, rest};
  Linear base;
  if (is_contiguous(rest, base) && divisor % unit_.lanes == 0 && common_factor(base) % unit_.lanes == 0) {
    auto [q, r] = divide_in_code(base, divisor);
    return {whole + q, rest + (-1) * base + r};
  }
  auto [q, r] = divide_in_code(rest, divisor);
  return {whole + q, r};
}

llvm::Value* Indices::value(const Linear& a) {
  if (a.terms.empty()) return unit_.number(a.constant);
  const int at = scope(a);
  if (auto it = values_.find(a); it != values_.end()) return it->second;

  llvm::Value* result = nullptr;
  if (is_vector(a)) {
    Linear uniform(a.constant);
    Linear lanes;
    for (const auto& term : a.terms) {
      (variables_[static_cast<std::size_t>(term.first)].vector ? lanes : uniform).terms.push_back(term);
    }
    llvm::Value* base = value(uniform);
    Builder& builder = scopes_.at(at);
    if (uniform.terms.empty() && uniform.constant == 0) {
      result = nullptr;
    } else {
      result = builder.CreateVectorSplat(static_cast<unsigned>(unit_.lanes), builder.CreateTrunc(base, unit_.i32()));
    }
    for (const auto& [v, c] : lanes.terms) {
      llvm::Value* term = variables_[static_cast<std::size_t>(v)].value;
      if (c != 1) term = builder.CreateMul(term, llvm::ConstantInt::getSigned(term->getType(), c));
      result = result == nullptr ? term : builder.CreateAdd(result, term);
    }
  } else {
    // Outer terms first, so that their sum is shared and stays outside.
    Linear outer(0);
    Linear inner;
    for (const auto& term : a.terms) {
      (variables_[static_cast<std::size_t>(term.first)].scope < at ? outer : inner).terms.push_back(term);
    }
    if (!outer.terms.empty()) result = value(outer);
    Builder& builder = scopes_.at(at);
    for (const auto& [v, c] : inner.terms) {
      llvm::Value* term = variables_[static_cast<std::size_t>(v)].value;
      if (c != 1) term = builder.CreateMul(term, unit_.number(c));
      result = result == nullptr ? term : builder.CreateAdd(result, term);
    }
    if (a.constant != 0) result = builder.CreateAdd(result, unit_.number(a.constant));
  }
  values_.emplace(a, result);
  return result;
}

}  // namespace cellfuse::cpu
