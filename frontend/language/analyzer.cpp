#include "frontend/language/analyzer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cellfuse {

namespace {

constexpr std::size_t kMaxCallNotes = 3;

}  // namespace

Analyzer::Analyzer(const ast::File& file, const ast::Cell& cell, const Binding& binding, Reporter& reporter, Cell* out)
    : file_(file), ast_(cell), given_(binding), reporter_(reporter), out_(out), sizes_(dims_, reporter) {}

void Analyzer::error(const Span& span, std::string message, std::string hint, const std::vector<const Value*>& about) {
  std::vector<Diagnostic> notes;
  for (const Value* value : about) {
    if (value->origin == nullptr) continue;
    const auto same = [&](const Diagnostic& old) { return old.message == value->origin->text; };
    if (std::ranges::none_of(notes, same)) notes.push_back(note(value->origin->span, value->origin->text));
  }
  std::size_t calls = 0;
  for (auto frame = frames_.rbegin(); frame != frames_.rend() && calls < kMaxCallNotes; ++frame, ++calls) {
    if (frame->call) notes.push_back(note(frame->call, "in this call of `" + frame->function->name.name + "`"));
  }
  reporter_.error(span, std::move(message), std::move(hint), std::move(notes));
}

Expr Analyzer::expr_of(const Value& value) {
  if (!value.is_number()) return value.expr;
  return constant(graph(), value.number->value.value());
}

Shape Analyzer::shape_of(const Axes& axes) const {
  Shape shape;
  for (const Axis& axis : axes) shape.push_back({axis.size.value(), axis.dim});
  return shape;
}

const Number* Analyzer::number_of(const Value& value, const Span& span, const std::string& what) {
  if (!value.known) return nullptr;
  if (value.is_number()) return &*value.number;
  error(span,
        what + " must be a number that is known when the cell is compiled, found " +
            (value.axes.empty() ? std::string("a value that is computed") : describe(value.axes)),
        "", {&value});
  return nullptr;
}

std::optional<Dim> Analyzer::whole_number_of(const Value& value, const Span& span, const std::string& what) {
  const Number* number = number_of(value, span, what);
  if (number == nullptr || number->opaque) return std::nullopt;
  if (!number->dim) {
    const bool fraction = number->value && std::floor(*number->value) != *number->value;
    error(span, what + " must be a whole number" + (fraction ? ", found " + fmt::format("{}", *number->value) : ""),
          fraction ? "" : "it is made of digits and dimensions; constants behind the `;` of a cell are real numbers");
    return std::nullopt;
  }
  if (number->inexact) {
    error(number->inexact, "this division leaves a remainder" + sizes_.values_of({*number->dim}),
          "where a size is divided, the division must be exact");
    return std::nullopt;
  }
  return number->dim;
}

}  // namespace cellfuse
