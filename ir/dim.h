#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cellfuse {

/// Values of the dimensions of a cell, by name.
using DimBinding = std::map<std::string, std::int64_t>;

/// A symbolic dimension expression left the range that is computed with: a coefficient of more than 63 bits, more
/// than 32 terms, an exponent above 8.
class DimOverflow : public std::overflow_error {
 public:
  using std::overflow_error::overflow_error;
};

/// A symbolic dimension: a Laurent polynomial with rational coefficients in the dimensions of a cell, in canonical
/// form, so that `2*(H/2) == H` and `4*H != H` are decided by comparing terms. Immutable, cheap to copy; a plain
/// number takes no memory of its own. Arithmetic throws DimOverflow rather than give a wrong result.
class Dim {
 public:
  Dim() = default;                                      ///< 0
  constexpr Dim(std::int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor): a number is a dimension
  static Dim symbol(const std::string& name);

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  /// Division by a single term; std::nullopt when the divisor is zero or a sum.
  friend std::optional<Dim> divide(const Dim& a, const Dim& b);

  friend bool operator==(const Dim& a, const Dim& b);

  /// The number this is, when no dimension occurs in it and it is whole.
  std::optional<std::int64_t> constant() const;
  /// Its value under a binding; std::nullopt when a dimension is unbound, the value is not whole or overflows.
  std::optional<std::int64_t> evaluate(const DimBinding& binding) const;
  /// The same without the demand that it be whole, rounded to a double.
  std::optional<double> evaluate_real(const DimBinding& binding) const;
  /// True when this is positive for all dimensions >= 1. Sufficient, not necessary: written in `s' = s - 1` for each
  /// dimension `s`, no coefficient is negative and the constant term is positive.
  bool provably_positive() const { return provable_sign() > 0; }
  /// True when no binding with dimensions >= 1 makes the two equal, as far as the test above tells.
  friend bool provably_different(const Dim& a, const Dim& b);

  /// Names of the dimensions that occur, sorted.
  std::vector<std::string> symbols() const;
  /// `4*H + 2*H/C`; numbers alone are printed as numbers.
  std::string str() const;

 private:
  int provable_sign() const;  // 0 where nothing is proved
  struct Rational {
    std::int64_t num = 0;
    std::int64_t den = 1;  // > 0, no common factor with num
    friend bool operator==(const Rational&, const Rational&) = default;
  };
  using Monomial = std::map<std::string, int>;  // exponents, never 0
  using Terms = std::map<Monomial, Rational>;   // coefficients, never 0

  static Rational reduced(__int128 num, __int128 den);
  static Rational add(const Rational& a, const Rational& b);
  static Rational multiply(const Rational& a, const Rational& b);
  static Monomial multiply(const Monomial& a, const Monomial& b);
  static void add_term(Terms& terms, const Monomial& monomial, const Rational& value);
  static std::string term_str(const Monomial& monomial, const Rational& magnitude);
  static std::optional<Terms> shifted(const Terms& terms);
  static Dim from_terms(Terms terms);
  Terms terms() const;
  std::optional<Rational> evaluate_rational(const DimBinding& binding) const;

  std::shared_ptr<const Terms> terms_;  // null when this is the whole number value_
  std::int64_t value_ = 0;
};

}  // namespace cellfuse
