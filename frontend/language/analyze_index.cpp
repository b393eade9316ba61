#include <utility>

#include "frontend/language/analyzer.h"

namespace cellfuse {

/// What the subscripts read so far make of a value.
struct Analyzer::View {
  const Value& base;
  Span span;
  std::size_t next_axis = 0;  ///< of the base
  Axes axes;                  ///< of the result
  Expr expr;                  ///< of the base after slicing
  bool whole_axes = true;     ///< no axis was added or dropped
};

Value Analyzer::evaluate(const ast::Index& index, const Span& span) {
  const Value base = evaluate(index.base);
  if (!base.known) return {};
  View view{base, span, 0, {}, base.expr, true};
  std::size_t taken = 0;
  for (const ast::Subscript& subscript : index.subscripts) {
    taken += subscript.kind == ast::Subscript::Kind::NewAxis ? 0 : 1;
  }
  if (taken > base.axes.size()) {
    error(span,
          base.axes.empty() ? "a scalar cannot be indexed"
                            : "too many indices for a value of shape " + describe(base.axes),
          "", {&base});
    return {};
  }
  if (base.axes.empty() && building()) view.expr = expr_of(base);
  for (const ast::Subscript& subscript : index.subscripts) {
    if (!read_subscript(subscript, view)) return {};
  }
  view.axes.insert(view.axes.end(), base.axes.begin() + static_cast<std::ptrdiff_t>(view.next_axis), base.axes.end());
  if (view.axes.size() > 2) {
    error(span, "a value has at most two axes, this one would have " + std::to_string(view.axes.size()));
    return {};
  }
  return result(view.axes, base, [&] { return view.whole_axes ? view.expr : reshape(view.expr, shape_of(view.axes)); });
}

bool Analyzer::read_subscript(const ast::Subscript& subscript, View& view) {
  if (subscript.kind == ast::Subscript::Kind::NewAxis) {
    view.axes.push_back(sizes_.axis(1));
    view.whole_axes = false;
    return true;
  }
  const std::size_t position = view.next_axis++;
  const Axis& axis = view.base.axes[position];
  if (subscript.kind == ast::Subscript::Kind::Range && !subscript.begin && !subscript.end) {
    view.axes.push_back(axis);
    return true;
  }
  const auto bound = [&](const ast::ExpressionPtr& expression, const Dim& otherwise) -> std::optional<Dim> {
    if (!expression) return otherwise;
    return whole_number_of(evaluate(expression), expression->span, "an index");
  };
  const std::optional<Dim> begin = bound(subscript.begin, 0);
  const bool pick = subscript.kind == ast::Subscript::Kind::Pick;
  const std::optional<Dim> end = pick || !begin ? begin : bound(subscript.end, axis.dim);
  if (!begin || !end) return false;
  const Dim behind = pick ? *begin + Dim(1) : *end;
  if (!check_range(*begin, behind, subscript, view)) return false;
  const Axis extent = sizes_.axis(behind - *begin);
  if (pick) {
    view.whole_axes = false;
  } else {
    view.axes.push_back(extent);
  }
  if (building()) {
    view.expr = slice(view.expr, static_cast<int>(position), sizes_.evaluate(*begin).value(),
                      Extent(extent.size.value(), extent.dim));
  }
  return true;
}

bool Analyzer::check_range(const Dim& begin, const Dim& end, const ast::Subscript& subscript, const View& view) {
  const Dim& size = view.base.axes[view.next_axis - 1].dim;
  const bool pick = subscript.kind == ast::Subscript::Kind::Pick;
  const std::string what = pick ? "the index " + begin.str() : "the slice " + begin.str() + ":" + end.str();
  const std::string values = sizes_.values_of({begin, end, size});
  if (!sizes_.at_most(0, begin, subscript.span)) {
    error(subscript.span, what + values + " starts below 0",
          pick ? "the last element is `[" + (size - Dim(1)).str() + "]`" : "indices count from 0");
    return false;
  }
  if (!sizes_.at_most(end, size, subscript.span)) {
    error(subscript.span, what + " is past the end of an axis of size " + size.str() + values,
          pick ? "indices count from 0" : "", {&view.base});
    return false;
  }
  if (!pick && !sizes_.at_most(begin + Dim(1), end, subscript.span)) {
    error(subscript.span, what + values + " is empty", "the end is not part of a slice");
    return false;
  }
  return true;
}

}  // namespace cellfuse
