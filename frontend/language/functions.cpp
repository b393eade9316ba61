#include "frontend/language/functions.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/language/analyzer.h"
#include "ir/functions.h"

namespace cellfuse {

Value FunctionCall::fail(std::size_t i, const std::string& what, const std::string& hint) const {
  analyzer.error(arguments.spans[i], "`" + std::string(function) + "` " + what, hint, {&arguments.values[i]});
  return {};
}

namespace {

std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

/// The axis that argument `i` names, counted from 0.
std::optional<int> axis_of(const FunctionCall& call, std::size_t i) {
  const Value& x = call.value(0);
  if (x.rank() == 0) {
    call.fail(0, "works along an axis, found a scalar");
    return std::nullopt;
  }
  const std::optional<Dim> number = call.analyzer.whole_number_of(call.value(i), call.arguments.spans[i], "an axis");
  const std::optional<std::int64_t> axis = number ? call.analyzer.sizes().evaluate(*number) : std::nullopt;
  if (!axis) {
    if (number) call.fail(i, "needs the number of an axis: 0 or 1");
    return std::nullopt;
  }
  if (*axis < -x.rank() || *axis >= x.rank()) {
    call.fail(i, "has no axis " + std::to_string(*axis) + " in a value of shape " + describe(x.axes),
              "axes count from 0");
    return std::nullopt;
  }
  return static_cast<int>(*axis < 0 ? *axis + x.rank() : *axis);
}

template <Op op>
Expr reduce_by(Expr x, int axis) {
  return reduce(op, x, axis);
}

Expr cumsum_forward(Expr x, int axis) { return cumsum(x, axis); }

template <Expr (*make)(Expr, int)>
Value reduction(const FunctionCall& call) {
  const std::optional<int> axis = axis_of(call, 1);
  if (!axis) return {};
  const Value& x = call.value(0);
  Axes axes = x.axes;
  axes.erase(axes.begin() + *axis);
  return call.analyzer.result(std::move(axes), x, [&] { return make(x.expr, *axis); });
}

template <Expr (*make)(Expr, int)>
Value along_axis(const FunctionCall& call) {
  const std::optional<int> axis = axis_of(call, 1);
  if (!axis) return {};
  const Value& x = call.value(0);
  return call.analyzer.result(x.axes, x, [&] { return make(x.expr, *axis); });
}

/// A gain or a bias: for each element of the last axis, or less.
bool fits_last_axis(const FunctionCall& call, std::size_t i) {
  if (!call.given(i)) return true;
  const Value& x = call.value(0);
  if (call.analyzer.fits(call.value(i).axes, {x.axes.back()}, call.arguments.spans[i])) return true;
  call.fail(i, "needs one element for each of the last axis of " + describe(x.axes) + ", found " +
                   describe(call.value(i).axes) + call.analyzer.sizes().values_of(x.axes, call.value(i).axes));
  return false;
}

std::optional<Expr> given_expr(const FunctionCall& call, std::size_t i) {
  if (!call.given(i)) return std::nullopt;
  return call.analyzer.expr_of(call.value(i));
}

std::optional<double> small_number(const FunctionCall& call, std::size_t i, const std::string& what) {
  const Number* number = call.analyzer.number_of(call.value(i), call.arguments.spans[i], what);
  if (number == nullptr) return std::nullopt;
  return number->value.value_or(0);
}

Value layer_norm_call(const FunctionCall& call) {
  const Value& x = call.value(0);
  if (x.rank() == 0) return call.fail(0, "works along an axis, found a scalar");
  const std::optional<double> eps = small_number(call, 3, "`eps`");
  if (!eps || !fits_last_axis(call, 1) || !fits_last_axis(call, 2)) return {};
  return call.analyzer.result(
      x.axes, x, [&] { return layer_norm(x.expr, given_expr(call, 1), given_expr(call, 2), *eps, x.rank() - 1); });
}

Value rms_norm_call(const FunctionCall& call) {
  const Value& x = call.value(0);
  if (x.rank() == 0) return call.fail(0, "works along an axis, found a scalar");
  const std::optional<double> eps = small_number(call, 2, "`eps`");
  if (!eps || !fits_last_axis(call, 1)) return {};
  return call.analyzer.result(x.axes, x, [&] { return rms_norm(x.expr, given_expr(call, 1), *eps, x.rank() - 1); });
}

Value split_call(const FunctionCall& call) {
  call.analyzer.error(call.span, "`split` gives several values", "take them by names: `a, b = split(x, 2)`");
  return {};
}

Value concat_call(const FunctionCall& call) {
  Axes axes = call.value(0).axes;
  if (axes.empty())
    return call.fail(0, "joins vectors or matrices, found a scalar", "`ones(1) * x` is a vector of one element");
  Sizes& sizes = call.analyzer.sizes();
  for (std::size_t i = 1; i < call.arguments.values.size(); ++i) {
    const Value& part = call.value(i);
    const bool same_rank = part.axes.size() == axes.size();
    if (!same_rank || (axes.size() == 2 && !sizes.agree(axes[0], part.axes[0], call.arguments.spans[i]))) {
      return call.fail(i, "joins along the last axis and cannot put " + describe(part.axes) + " beside " +
                              describe(call.value(0).axes));
    }
    axes.back() = sizes.axis(axes.back().dim + part.axes.back().dim);
  }
  return call.analyzer.result(axes, call.value(0), [&] {
    std::vector<Expr> parts;
    for (const Value& part : call.arguments.values) parts.push_back(part.expr);
    return concat(parts, static_cast<int>(axes.size()) - 1);
  });
}

std::optional<Dim> count_of(const FunctionCall& call, std::size_t i) {
  return call.analyzer.whole_number_of(call.value(i), call.arguments.spans[i], "a size");
}

template <Expr (*make)(Expr, const Extent&)>
Value stretch(const FunctionCall& call) {
  const Value& x = call.value(0);
  if (x.rank() == 0) return call.fail(0, "works along the last axis, found a scalar");
  const std::optional<Dim> n = count_of(call, 1);
  if (!n) return {};
  Sizes& sizes = call.analyzer.sizes();
  Axes axes = x.axes;
  axes.back() = sizes.axis(axes.back().dim * *n);
  if (!sizes.check_limits({sizes.axis(*n)}, call.arguments.spans[1]) || !sizes.check_limits(axes, call.span)) return {};
  return call.analyzer.result(axes, x, [&] { return make(x.expr, Extent(sizes.evaluate(*n).value(), *n)); });
}

Value transpose_call(const FunctionCall& call) {
  const Value& x = call.value(0);
  if (x.rank() != 2) return call.fail(0, "needs a matrix, found " + describe(x.axes));
  return call.analyzer.result({x.axes[1], x.axes[0]}, x, [&] { return transpose(x.expr); });
}

Value outer_call(const FunctionCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.value(i).rank() != 1) return call.fail(i, "needs two vectors, found " + describe(call.value(i).axes));
  }
  return call.analyzer.result({call.value(0).axes[0], call.value(1).axes[0]}, call.value(0),
                              [&] { return outer(call.value(0).expr, call.value(1).expr); });
}

/// The shape given by arguments `first` and, where given, the next one.
std::optional<Axes> shape_argument(const FunctionCall& call, std::size_t first) {
  Axes axes;
  for (std::size_t i = first; i < call.arguments.values.size(); ++i) {
    if (!call.given(i)) continue;
    const std::optional<Dim> size = count_of(call, i);
    if (!size) return std::nullopt;
    axes.push_back(call.analyzer.sizes().axis(*size));
    if (!call.analyzer.sizes().check_limits(axes, call.arguments.spans[i])) return std::nullopt;
  }
  return axes;
}

Value reshape_call(const FunctionCall& call) {
  const Value& x = call.value(0);
  const std::optional<Axes> axes = shape_argument(call, 1);
  if (!axes) return {};
  Sizes& sizes = call.analyzer.sizes();
  Dim before = 1;
  Dim after = 1;
  for (const Axis& axis : x.axes) before = before * axis.dim;
  for (const Axis& axis : *axes) after = after * axis.dim;
  if (!sizes.agree(sizes.axis(before), sizes.axis(after), call.span)) {
    return call.fail(0, "cannot make " + describe(*axes) + " of " + describe(x.axes) + ": " + before.str() +
                            " elements against " + after.str() + sizes.values_of({before, after}));
  }
  return call.analyzer.result(*axes, x, [&] { return reshape(x.expr, call.analyzer.shape_of(*axes)); });
}

Value eye_call(const FunctionCall& call) {
  const std::optional<Axes> axes = shape_argument(call, 0);
  if (!axes) return {};
  const Axis& n = axes->front();
  const Axes square{n, n};
  if (!call.analyzer.sizes().check_limits(square, call.span)) return {};
  return call.analyzer.result(square, {}, [&] { return eye(call.analyzer.graph(), Extent(n.size.value(), n.dim)); });
}

template <int number>
Value filled(const FunctionCall& call) {
  const std::optional<Axes> axes = shape_argument(call, 0);
  if (!axes) return {};
  return call.analyzer.result(*axes, {},
                              [&] { return constant(call.analyzer.graph(), number, call.analyzer.shape_of(*axes)); });
}

/// A rate: a scalar, and between 0 and 1 where it is known.
bool check_rate(const FunctionCall& call, std::size_t i) {
  const Value& p = call.value(i);
  if (p.rank() != 0) {
    call.fail(i, "needs a scalar as its rate, found " + describe(p.axes));
    return false;
  }
  const bool outside = p.is_number() && p.number->value && (*p.number->value < 0 || *p.number->value > 1);
  if (outside) call.fail(i, "needs a rate from 0 to 1");
  return !outside;
}

bool check_random(const FunctionCall& call) {
  if (!call.analyzer.in_start()) return true;
  call.analyzer.error(call.span, quoted(call.function) + " is drawn in a step; the start of a state is made before");
  return false;
}

Operand rate(const FunctionCall& call, std::size_t i) {
  const Value& p = call.value(i);
  return p.is_number() ? Operand(p.number->value.value_or(0)) : Operand(p.expr);
}

Value dropout_call(const FunctionCall& call) {
  const Value& x = call.value(0);
  const std::optional<double> shared = small_number(call, 2, "`shared`");
  if (!shared || !check_rate(call, 1) || !check_random(call)) return {};
  if (*shared != 0 && *shared != 1) return call.fail(2, "needs 0 or 1 for `shared`");
  return call.analyzer.result(x.axes, x, [&] {
    return dropout(call.analyzer.expr_of(x), rate(call, 1), *shared == 1, call.analyzer.next_random_site());
  });
}

Value zoneout_call(const FunctionCall& call) {
  const Value& fresh = call.value(0);
  const Value& old = call.value(1);
  if (!check_rate(call, 2) || !check_random(call)) return {};
  const std::optional<Axes> axes = call.analyzer.sizes().broadcast(fresh.axes, old.axes, call.span);
  if (!axes) {
    return call.fail(1, "cannot combine " + describe(fresh.axes) + " with " + describe(old.axes) +
                            call.analyzer.sizes().values_of(fresh.axes, old.axes));
  }
  return call.analyzer.result(*axes, fresh, [&] {
    const Shape shape = call.analyzer.shape_of(*axes);
    return zoneout(broadcast_to(call.analyzer.expr_of(fresh), shape), broadcast_to(call.analyzer.expr_of(old), shape),
                   rate(call, 2), call.analyzer.next_random_site());
  });
}

}  // namespace

std::span<const FunctionInfo> language_functions() {
#define FUNCTION(name, parameters, analyze) {#name, parameters, analyze},
  static const std::vector<FunctionInfo> rows{
#include "frontend/language/functions.def"
  };
#undef FUNCTION
  return rows;
}

const FunctionInfo* find_language_function(std::string_view name) {
  const auto rows = language_functions();
  const auto found = std::ranges::find(rows, name, &FunctionInfo::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace cellfuse
