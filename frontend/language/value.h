#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/dim.h"
#include "ir/expr.h"
#include "ir/source.h"

namespace cellfuse {

/// One axis of a value: its size as an expression of the dimensions, and as a number where they are bound.
struct Axis {
  Dim dim = 1;
  std::optional<std::int64_t> size = 1;
};

/// Axes from the outermost to the innermost; none for a scalar.
using Axes = std::vector<Axis>;

/// `[4*H, I]`, or `a scalar`.
std::string describe(const Axes& axes);
/// `[2048, 512]`; empty unless all sizes are known and one of them is written with a dimension.
std::string describe_sizes(const Axes& axes);

/// A number that is known when the cell is compiled.
struct Number {
  std::optional<Dim> dim;       ///< exact, when made of whole numbers and dimensions
  std::optional<double> value;  ///< when the dimensions in it are bound
  bool opaque = false;          ///< made of dimensions in a way that `dim` cannot hold while they are unbound
  Span inexact{};               ///< a division in it that leaves a remainder, where there is one

  static Number of(double value) { return {std::nullopt, value, false, {}}; }
};

/// Where a shape comes from, as the text of a note.
struct Origin {
  std::string text;
  Span span;
};

/// What the analysis knows of a value.
struct Value {
  bool known = false;  ///< false behind a reported mistake: nothing more is said about it
  Axes axes;
  std::optional<Number> number;  ///< for scalars that are numbers when the cell is compiled
  Expr expr;                     ///< when a graph is built; made on demand for numbers
  std::shared_ptr<const Origin> origin;

  bool is_number() const { return number.has_value(); }
  int rank() const { return static_cast<int>(axes.size()); }
  static Value scalar(Number number) { return {true, {}, std::move(number), {}, {}}; }
};

}  // namespace cellfuse
