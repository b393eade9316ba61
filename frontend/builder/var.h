#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

/// Cells written as C++ expressions. The functions and operators here are those of the cell language, with its shapes,
/// broadcasting and messages; a mistake is reported at the caller's line when the cell is built.
namespace cellfuse::build {

class Recorder;

/// A value of a cell: an input, a state, a dimension, or what was computed from them. Cheap to copy.
class Var {
 public:
  Var(std::shared_ptr<Recorder> recorder, std::string name) : recorder_(std::move(recorder)), name_(std::move(name)) {}

  /// The same value under a name that printers, emitted code and messages use.
  Var as(const std::string& name, std::source_location where = std::source_location::current()) const;

  const std::shared_ptr<Recorder>& recorder() const { return recorder_; }
  /// Its name in the recorded cell; one that starts with '.' was made up. Ends with `'` for the next value of a state.
  const std::string& name() const { return name_; }

  /// Places of one axis or two, as between the brackets of the language: `x(2)`, `A(range(0, H))`, `A(all, range(0,
  /// 2))`, `x(all, new_axis)`.
  class Subscript;
  Var operator()(const Subscript& first) const;
  Var operator()(const Subscript& first, const Subscript& second) const;

 private:
  std::shared_ptr<Recorder> recorder_;
  std::string name_;
};

/// An argument by its name: `sum(x, named("axis", 0))`.
struct Named;

/// What a function or an operator takes: a Var or a number, and the line of the caller.
class Argument {
 public:
  Argument(const Var& value, std::source_location where = std::source_location::current())  // NOLINT
      : var(value), where(where) {}
  template <std::integral Number>
  Argument(Number value, std::source_location where = std::source_location::current())  // NOLINT
      : number(static_cast<double>(value)), whole(true), where(where) {}
  template <std::floating_point Number>
  Argument(Number value, std::source_location where = std::source_location::current())  // NOLINT
      : number(static_cast<double>(value)), where(where) {}
  Argument(const Named& named);  // NOLINT

  std::optional<Var> var;
  double number = 0;
  bool whole = false;   ///< the number may be a size
  std::string keyword;  ///< empty: by position
  std::source_location where;
};

struct Named {
  std::string keyword;
  Argument value;
};
inline Argument::Argument(const Named& named) : Argument(named.value) { keyword = named.keyword; }
inline Named named(std::string keyword, Argument value) { return {std::move(keyword), std::move(value)}; }

/// Marks for Var::operator().
struct All {};
struct NewAxis {};
inline constexpr All all;
inline constexpr NewAxis new_axis;

struct Range {
  Argument begin;
  std::optional<Argument> end;  ///< to the end of the axis
};
/// `begin:end`
inline Range range(Argument begin, Argument end) { return {std::move(begin), std::move(end)}; }
/// `begin:`
inline Range range(Argument begin) { return {std::move(begin), std::nullopt}; }

class Var::Subscript {
 public:
  Subscript(All /*mark*/, std::source_location where = std::source_location::current())  // NOLINT
      : kind(Kind::All), where(where) {}
  Subscript(NewAxis /*mark*/, std::source_location where = std::source_location::current())  // NOLINT
      : kind(Kind::NewAxis), where(where) {}
  Subscript(const Range& range)  // NOLINT
      : kind(Kind::Range), begin(range.begin), end(range.end), where(range.begin.where) {}
  Subscript(const Var& index, std::source_location where = std::source_location::current())  // NOLINT
      : kind(Kind::Pick), begin(Argument(index, where)), where(where) {}
  template <std::integral Number>
  Subscript(Number index, std::source_location where = std::source_location::current())  // NOLINT
      : kind(Kind::Pick), begin(Argument(index, where)), where(where) {}

  enum class Kind : unsigned char { Pick, Range, All, NewAxis };
  Kind kind;
  std::optional<Argument> begin;
  std::optional<Argument> end;
  std::source_location where;
};

/// Calls a function of the language by its name. At least one argument must be a Var.
Var call(const std::string& function, const std::vector<Argument>& arguments);

// Every function of the language under its own name, with its arguments and defaults. A wrong number of arguments is
// reported like any other mistake.
#define CELLFUSE_CALL(name)                                                                                     \
  inline Var name(Argument a) { return call(#name, {a}); }                                                      \
  inline Var name(Argument a, Argument b) { return call(#name, {a, b}); }                                       \
  inline Var name(Argument a, Argument b, Argument c) { return call(#name, {a, b, c}); }                        \
  inline Var name(Argument a, Argument b, Argument c, Argument d) { return call(#name, {a, b, c, d}); }         \
  inline Var name(std::initializer_list<Argument> arguments) { return call(#name, arguments); }
#define ELEMENTWISE(...)
#define FUNCTION(op, name, ...) CELLFUSE_CALL(name)
#include "ir/elementwise.def"
#undef FUNCTION
#undef ELEMENTWISE
#define FUNCTION(name, ...) CELLFUSE_CALL(name)
#include "frontend/language/functions.def"
#undef FUNCTION
#undef CELLFUSE_CALL

/// `@`: matrix-vector, vector-matrix or matrix-matrix product.
Var matmul(Argument a, Argument b);
/// The elementwise product, also of a matrix and a vector (with broadcasting).
Var multiply(Argument a, Argument b);

/// `@` where one side is a matrix and the other a vector, else elementwise.
Var operator*(Argument a, Argument b);
Var operator+(Argument a, Argument b);
Var operator-(Argument a, Argument b);
Var operator/(Argument a, Argument b);
Var operator-(Argument a);
Var operator<(Argument a, Argument b);
Var operator<=(Argument a, Argument b);
Var operator>(Argument a, Argument b);
Var operator>=(Argument a, Argument b);
Var operator==(Argument a, Argument b);
Var operator!=(Argument a, Argument b);
Var operator&&(Argument a, Argument b);
Var operator||(Argument a, Argument b);
Var operator!(Argument a);

/// The parts of a `split` along the last axis.
std::vector<Var> split_parts(const Argument& x, std::size_t count);

/// `auto [i, f, g, o] = split<4>(x)`
template <std::size_t count>
std::array<Var, count> split(Argument x) {
  std::vector<Var> parts = split_parts(x, count);
  return [&]<std::size_t... i>(std::index_sequence<i...> /*unused*/) {
    return std::array<Var, count>{std::move(parts[i])...};
  }(std::make_index_sequence<count>());
}

}  // namespace cellfuse::build
