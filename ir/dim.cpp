#include "ir/dim.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace cellfuse {

namespace {

constexpr std::size_t kMaxTerms = 32;
constexpr int kMaxExponent = 8;

std::int64_t narrow(__int128 value) {
  if (value > std::numeric_limits<std::int64_t>::max() || value < -std::numeric_limits<std::int64_t>::max()) {
    throw DimOverflow("the dimension expression is too large");
  }
  return static_cast<std::int64_t>(value);
}

__int128 gcd_of(__int128 a, __int128 b) {
  if (a < 0) a = -a;
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

}  // namespace

Dim::Rational Dim::reduced(__int128 num, __int128 den) {
  if (den < 0) {
    num = -num;
    den = -den;
  }
  __int128 common = gcd_of(num, den);
  return {narrow(num / common), narrow(den / common)};
}

// The factors have 63 bits, so the products and their sum fit 128.
Dim::Rational Dim::add(const Rational& a, const Rational& b) {
  return reduced(static_cast<__int128>(a.num) * b.den + static_cast<__int128>(b.num) * a.den,
                 static_cast<__int128>(a.den) * b.den);
}

Dim::Rational Dim::multiply(const Rational& a, const Rational& b) {
  return reduced(static_cast<__int128>(a.num) * b.num, static_cast<__int128>(a.den) * b.den);
}

Dim::Monomial Dim::multiply(const Monomial& a, const Monomial& b) {
  Monomial result = a;
  for (const auto& [name, exponent] : b) {
    int& sum = result[name];
    sum += exponent;
    if (std::abs(sum) > kMaxExponent) throw DimOverflow("the dimension expression has too high a power");
    if (sum == 0) result.erase(name);
  }
  return result;
}

void Dim::add_term(Terms& terms, const Monomial& monomial, const Rational& value) {
  if (value.num == 0) return;
  auto [place, inserted] = terms.try_emplace(monomial, value);
  if (!inserted) {
    place->second = add(place->second, value);
    if (place->second.num == 0) terms.erase(place);
  }
  if (terms.size() > kMaxTerms) throw DimOverflow("the dimension expression has too many terms");
}

Dim Dim::from_terms(Terms terms) {
  Dim result;
  if (terms.empty()) return result;
  const auto& [monomial, value] = *terms.begin();
  if (terms.size() == 1 && monomial.empty() && value.den == 1) {
    result.value_ = value.num;
    return result;
  }
  result.terms_ = std::make_shared<const Terms>(std::move(terms));
  return result;
}

Dim::Terms Dim::terms() const {
  if (terms_) return *terms_;
  if (value_ == 0) return {};
  return {{Monomial{}, Rational{value_, 1}}};
}

Dim Dim::symbol(const std::string& name) { return from_terms({{Monomial{{name, 1}}, Rational{1, 1}}}); }

Dim operator+(const Dim& a, const Dim& b) {
  if (!a.terms_ && !b.terms_) return narrow(static_cast<__int128>(a.value_) + b.value_);
  Dim::Terms sum = a.terms();
  for (const auto& [monomial, value] : b.terms()) Dim::add_term(sum, monomial, value);
  return Dim::from_terms(std::move(sum));
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (!a.terms_ && !b.terms_) return narrow(static_cast<__int128>(a.value_) * b.value_);
  const Dim::Terms left = a.terms();
  const Dim::Terms right = b.terms();
  Dim::Terms product;
  for (const auto& [left_monomial, left_value] : left) {
    for (const auto& [right_monomial, right_value] : right) {
      Dim::add_term(product, Dim::multiply(left_monomial, right_monomial), Dim::multiply(left_value, right_value));
    }
  }
  return Dim::from_terms(std::move(product));
}

std::optional<Dim> divide(const Dim& a, const Dim& b) {
  const Dim::Terms divisor = b.terms();
  if (divisor.size() != 1) return std::nullopt;
  const auto& [monomial, value] = *divisor.begin();
  Dim::Monomial inverse;
  for (const auto& [name, exponent] : monomial) inverse[name] = -exponent;
  const Dim::Rational reciprocal = Dim::reduced(value.den, value.num);
  Dim::Terms quotient;
  for (const auto& [term, coefficient] : a.terms()) {
    Dim::add_term(quotient, Dim::multiply(term, inverse), Dim::multiply(coefficient, reciprocal));
  }
  return Dim::from_terms(std::move(quotient));
}

bool operator==(const Dim& a, const Dim& b) {
  if (!a.terms_ || !b.terms_) return !a.terms_ && !b.terms_ && a.value_ == b.value_;
  return a.terms_ == b.terms_ || *a.terms_ == *b.terms_;
}

std::optional<std::int64_t> Dim::constant() const {
  if (terms_) return std::nullopt;
  return value_;
}

std::optional<Dim::Rational> Dim::evaluate_rational(const DimBinding& binding) const {
  Rational sum{0, 1};
  try {
    for (const auto& [monomial, coefficient] : terms()) {
      Rational product = coefficient;
      for (const auto& [name, exponent] : monomial) {
        auto bound = binding.find(name);
        if (bound == binding.end() || bound->second == 0) return std::nullopt;
        const Rational factor = exponent > 0 ? Rational{bound->second, 1} : reduced(1, bound->second);
        for (int i = 0; i < std::abs(exponent); ++i) product = multiply(product, factor);
      }
      sum = add(sum, product);
    }
  } catch (const DimOverflow&) {
    return std::nullopt;
  }
  return sum;
}

std::optional<std::int64_t> Dim::evaluate(const DimBinding& binding) const {
  if (!terms_) return value_;
  std::optional<Rational> value = evaluate_rational(binding);
  if (!value || value->den != 1) return std::nullopt;
  return value->num;
}

std::optional<double> Dim::evaluate_real(const DimBinding& binding) const {
  std::optional<Rational> value = evaluate_rational(binding);
  if (!value) return std::nullopt;
  return static_cast<double>(value->num) / static_cast<double>(value->den);
}

/// The terms after `s = 1 + s'` for each dimension, times a positive term that makes all exponents non-negative;
/// std::nullopt when that is too large to work out.
std::optional<Dim::Terms> Dim::shifted(const Terms& terms) {
  Monomial lowest;
  for (const auto& [monomial, value] : terms) {
    for (const auto& [name, exponent] : monomial) lowest[name] = std::min(lowest[name], exponent);
  }
  Monomial factor;
  for (const auto& [name, exponent] : lowest) {
    if (exponent < 0) factor[name] = -exponent;
  }
  Terms result;
  try {
    for (const auto& [monomial, value] : terms) {
      Terms expanded{{Monomial{}, value}};
      for (const auto& [name, exponent] : multiply(monomial, factor)) {
        for (int i = 0; i < exponent; ++i) {
          const Terms before = expanded;
          for (const auto& [term, coefficient] : before) {
            add_term(expanded, multiply(term, Monomial{{name, 1}}), coefficient);
          }
        }
      }
      for (const auto& [term, coefficient] : expanded) add_term(result, term, coefficient);
    }
  } catch (const DimOverflow&) {
    return std::nullopt;
  }
  return result;
}

int Dim::provable_sign() const {
  if (!terms_) return value_ > 0 ? 1 : (value_ < 0 ? -1 : 0);
  const auto common_sign = [](const Terms& terms) {
    const bool positive = terms.begin()->second.num > 0;
    const auto same = [&](const auto& term) { return (term.second.num > 0) == positive; };
    return !std::ranges::all_of(terms, same) ? 0 : (positive ? 1 : -1);
  };
  if (const int sign = common_sign(*terms_); sign != 0) return sign;
  const std::optional<Terms> shifted_terms = shifted(*terms_);
  if (!shifted_terms || !shifted_terms->contains(Monomial{})) return 0;
  return common_sign(*shifted_terms);
}

bool provably_different(const Dim& a, const Dim& b) {
  try {
    return (a - b).provable_sign() != 0;
  } catch (const DimOverflow&) {
    return false;
  }
}

std::vector<std::string> Dim::symbols() const {
  std::set<std::string> names;
  if (terms_) {
    for (const auto& [monomial, value] : *terms_) {
      for (const auto& [name, exponent] : monomial) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::string Dim::term_str(const Monomial& monomial, const Rational& magnitude) {
  std::string over;
  std::string under;
  int divisors = 0;
  auto append = [](std::string& product, const std::string& factor) {
    if (!product.empty()) product += '*';
    product += factor;
  };
  if (magnitude.num != 1) append(over, std::to_string(magnitude.num));
  if (magnitude.den != 1) {
    append(under, std::to_string(magnitude.den));
    ++divisors;
  }
  for (const auto& [name, exponent] : monomial) {
    for (int i = 0; i < std::abs(exponent); ++i) append(exponent > 0 ? over : under, name);
    if (exponent < 0) divisors -= exponent;
  }
  if (over.empty()) over = "1";
  if (divisors == 0) return over;
  return over + '/' + (divisors > 1 ? '(' + under + ')' : under);
}

std::string Dim::str() const {
  if (!terms_) return std::to_string(value_);
  struct Term {
    int degree;
    const Monomial* monomial;
    Rational value;
  };
  std::vector<Term> ordered;
  for (const auto& [monomial, value] : *terms_) {
    int degree = 0;
    for (const auto& [name, exponent] : monomial) degree += exponent;
    if (monomial.empty()) degree = -kMaxExponent;  // plain numbers last
    ordered.push_back({degree, &monomial, value});
  }
  // Positive terms first, then higher degree, then the order of the names.
  std::ranges::stable_sort(ordered, [](const Term& a, const Term& b) {
    return std::pair(a.value.num < 0, -a.degree) < std::pair(b.value.num < 0, -b.degree);
  });
  std::string text;
  for (const Term& term : ordered) {
    const bool negative = term.value.num < 0;
    const Rational magnitude{negative ? -term.value.num : term.value.num, term.value.den};
    if (text.empty()) {
      text = negative ? "-" : "";
    } else {
      text += negative ? " - " : " + ";
    }
    text += term_str(*term.monomial, magnitude);
  }
  return text;
}

}  // namespace cellfuse
