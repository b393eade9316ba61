#include <algorithm>
#include <set>
#include <utility>

#include "frontend/language/analyzer.h"

namespace cellfuse {

namespace {

/// Passes over a loop body after which the shapes it carries must have settled.
constexpr int kSettlePasses = 3;

bool same_shape(const Value& a, const Value& b) {
  if (a.axes.size() != b.axes.size()) return false;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    if (!(a.axes[i].dim == b.axes[i].dim)) return false;
  }
  return true;
}

bool same_number(const Value& a, const Value& b) {
  if (a.is_number() != b.is_number()) return false;
  return !a.is_number() ||
         (a.number->dim == b.number->dim && a.number->value == b.number->value && a.number->opaque == b.number->opaque);
}

void collect_targets(const std::vector<ast::Statement>& statements, std::set<std::string>& names) {
  for (const ast::Statement& statement : statements) {
    if (const auto* assign = std::get_if<ast::Assign>(&statement.node)) {
      for (const ast::Identifier& target : assign->targets) names.insert(target.name);
    } else if (const auto* loop = std::get_if<ast::Loop>(&statement.node)) {
      collect_targets(loop->body, names);
    }
  }
}

}  // namespace

void Analyzer::spend(const Span& span) {
  if (reporter_.full()) throw Stop{};
  const std::size_t nodes = building() ? graph().size() : 0;
  if (++work_ <= kMaxOperations && nodes <= static_cast<std::size_t>(kMaxOperations)) return;
  reporter_.mute(false);
  error(span, "with loops unrolled and functions inlined, there are more than " + std::to_string(kMaxOperations) +
                  " operations");
  throw Stop{};
}

void Analyzer::execute(const std::vector<ast::Statement>& statements) {
  for (const ast::Statement& statement : statements) {
    spend(statement.span);
    std::visit([&](const auto& node) { execute(node, statement.span); }, statement.node);
  }
}

void Analyzer::execute(const ast::Assign& assign, const Span& /*span*/) {
  if (assign.targets.size() == 1) {
    define(assign.targets.front(), evaluate(assign.value));
    return;
  }
  std::vector<Value> parts(assign.targets.size());
  try {
    parts = split(*assign.value, parts.size());
  } catch (const DimOverflow& overflow) {
    error(assign.value->span, overflow.what());
  }
  for (std::size_t i = 0; i < assign.targets.size(); ++i) define(assign.targets[i], std::move(parts[i]));
}

std::vector<Value> Analyzer::split(const ast::Expression& expression, std::size_t count) {
  std::vector<Value> parts(count);
  const auto* call = std::get_if<ast::Call>(&expression.node);
  if (call == nullptr || call->function.name != "split") {
    if (!std::holds_alternative<ast::Unreadable>(expression.node)) {
      error(expression.span, "this gives one value, not " + std::to_string(count), "only `split` gives several");
    }
    return parts;
  }
  const std::optional<Arguments> arguments = bind_arguments(Signature::read("split", "x, n"), *call, expression.span);
  if (!arguments || !arguments->all_known()) return parts;
  const Value& x = arguments->values[0];
  const std::optional<Dim> n = whole_number_of(arguments->values[1], arguments->spans[1], "the number of parts");
  if (!n) return parts;
  const Dim wanted(static_cast<std::int64_t>(count));
  if (!sizes_.agree(sizes_.axis(*n), sizes_.axis(wanted), arguments->spans[1])) {
    error(arguments->spans[1],
          "`split` gives " + n->str() + sizes_.values_of({*n}) + " parts for " + std::to_string(count) + " names");
    return parts;
  }
  if (x.axes.empty()) {
    error(arguments->spans[0], "`split` needs an axis to split, found a scalar", "", {&x});
    return parts;
  }
  const Axis& last = x.axes.back();
  if (last.size && *last.size % static_cast<std::int64_t>(count) != 0) {
    error(arguments->spans[0],
          "`split` cannot cut an axis of size " + last.dim.str() + sizes_.values_of({last.dim}) + " into " +
              std::to_string(count) + " equal parts",
          "", {&x});
    return parts;
  }
  Axes axes = x.axes;
  axes.back() = sizes_.axis(*divide(last.dim, wanted));
  const int axis = x.rank() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    parts[i] = result(axes, x, [&] {
      const std::int64_t size = axes.back().size.value();
      return slice(expr_of(x), axis, static_cast<std::int64_t>(i) * size, Extent(size, axes.back().dim));
    });
    parts[i].origin = nullptr;
  }
  return parts;
}

bool Analyzer::refuse_name(const ast::Identifier& name) {
  if (name.name != "t") return false;
  error(name.span, "`t` is the index of the step and cannot be defined");
  return true;
}

void Analyzer::define(const ast::Identifier& target, Value value) {
  if (refuse_name(target)) return;
  const bool typed = !target.name.starts_with('.');
  const Symbol* old = scope_->find_own(target.name);
  if (old != nullptr && (old->kind != Symbol::Kind::Local || loop_depth_ == 0)) {
    const bool state = old->kind == Symbol::Kind::State;
    reporter_.error(
        target.span, "`" + target.name + "` is already defined",
        state ? "the next value of a state is written `" + target.name + "' = ...`" : "a name gets its value once",
        {note(old->span, "it is " + describe(old->kind) + ", defined here")});
    return;
  }
  const bool used = old != nullptr && old->used;
  if (typed && value.known && !value.is_number()) {
    if (building() && value.expr.node().op != Op::Constant) graph().set_name(value.expr.id, target.name);
    value.origin = std::make_shared<Origin>(
        Origin{"`" + target.name + "` is " + describe(value.axes) + ", defined here", target.span});
  }
  scope_->define(target.name, {Symbol::Kind::Local, std::move(value), target.span, used});
}

void Analyzer::execute(const ast::Advance& advance, const Span& span) {
  Value value = evaluate(advance.value);
  const std::string& name = advance.state.name;
  const Symbol* state = cell_scope_.find_own(name);
  if (state == nullptr || state->kind != Symbol::Kind::State) {
    if (state == nullptr && ast_.incomplete) return;
    std::vector<std::string> states;
    for (const auto& [other, symbol] : cell_scope_.symbols()) {
      if (symbol.kind == Symbol::Kind::State) states.push_back(other);
    }
    error(advance.state.span, "`" + name + "` is not a state", did_you_mean(name, states));
    return;
  }
  if (next_.contains(name)) {
    reporter_.error(advance.state.span, "`" + name + "'` already has a value", "a state gets its next value once",
                    {note(later_[name + "'"], "it is given here")});
    return;
  }
  if (value.known && state->value.known && !fits(value.axes, state->value.axes, span)) {
    error(advance.state.span,
          "`" + name + "'` must have the shape of `" + name + "`, " + describe(state->value.axes) + ", found " +
              describe(value.axes) + sizes_.values_of(value.axes, state->value.axes),
          "", {&state->value, &value});
    value = {};
  }
  if (!value.known || !state->value.known) {
    next_[name] = {};
    return;
  }
  Value next{true, state->value.axes, {}, {}, state->value.origin};
  if (building()) {
    next.expr = broadcast_to(expr_of(value), shape_of(next.axes));
    if (next.expr.node().op != Op::Constant) graph().set_name(next.expr.id, name + "'");
    graph().set_span(next.expr.id, span);
    for (CellState& carried : out_->states) {
      if (carried.name == name) carried.next = next.expr.id;
    }
  }
  next_[name] = std::move(next);
}

void Analyzer::execute(const ast::Output& output, const Span& span) {
  Value value;
  if (output.value) {
    value = evaluate(output.value);
    define(output.name, value);
    if (Symbol* symbol = scope_->find_own(output.name.name)) symbol->used = true;
  } else {
    value = evaluate(ast::Name{output.name.name, output.next}, output.name.span);
    const Symbol* symbol = output.next ? nullptr : cell_scope_.find_own(output.name.name);
    if (symbol != nullptr && symbol->kind == Symbol::Kind::State) {
      reporter_.warning(span, "this puts out the value of `" + output.name.name + "` before the step",
                        "its new value is `output " + output.name.name + "'`");
    }
  }
  add_output(output.name, std::move(value));
}

void Analyzer::add_output(const ast::Identifier& name, Value value) {
  const auto [old, inserted] = outputs_.try_emplace(name.name, name.span);
  if (!inserted) {
    reporter_.error(name.span, "there is already an output `" + name.name + "`", "", {note(old->second, "it is here")});
    return;
  }
  if (building() && value.known) out_->outputs.push_back({name.name, expr_of(value).id, OutputRole::Data});
}

void Analyzer::execute(const ast::Loop& loop, const Span& span) {
  const Value begin_value = evaluate(loop.begin);
  const Value end_value = evaluate(loop.end);
  const std::optional<Dim> begin = whole_number_of(begin_value, loop.begin->span, "a bound of a loop");
  const std::optional<Dim> end = whole_number_of(end_value, loop.end->span, "a bound of a loop");
  if (refuse_name(loop.variable)) return;
  if (const Symbol* old = scope_->find_own(loop.variable.name)) {
    reporter_.error(loop.variable.span, "`" + loop.variable.name + "` is already defined", "use another counter",
                    {note(old->span, "it is " + describe(old->kind) + ", defined here")});
    return;
  }
  const std::optional<std::int64_t> first = begin ? sizes_.evaluate(*begin) : std::nullopt;
  const std::optional<std::int64_t> last = end ? sizes_.evaluate(*end) : std::nullopt;
  ++loop_depth_;
  if (first && last) {
    if (*last < *first) {
      error(span, "the loop ends before it starts" + sizes_.values_of({*begin, *end}));
    }
    repeat_body(loop, *first, *last);
  } else {
    execute_once(loop);
  }
  --loop_depth_;
  scope_->erase(loop.variable.name);
}

void Analyzer::set_counter(const ast::Loop& loop, Number number) {
  scope_->define(loop.variable.name,
                 {Symbol::Kind::Counter, Value::scalar(std::move(number)), loop.variable.span, true});
}

void Analyzer::repeat_body(const ast::Loop& loop, std::int64_t begin, std::int64_t end) {
  for (std::int64_t k = begin; k < end; ++k) {
    spend(loop.variable.span);
    set_counter(loop, {Dim(k), static_cast<double>(k), false, {}});
    execute(loop.body);
  }
}

void Analyzer::execute_once(const ast::Loop& loop) {
  std::string counter = loop.variable.name;
  while (cell_scope_.find_own(counter) != nullptr || sizes_.is_unknown(counter)) counter += '_';
  sizes_.add_unknown(counter);
  set_counter(loop, {Dim::symbol(counter), std::nullopt, false, {}});

  // Names that the body redefines may change their shape from one repetition to the next: find what they settle to.
  std::set<std::string> targets;
  collect_targets(loop.body, targets);
  std::map<std::string, Value> before;
  for (const std::string& name : targets) {
    const Symbol* symbol = scope_->find_own(name);
    if (symbol != nullptr && symbol->kind == Symbol::Kind::Local) before[name] = symbol->value;
  }
  if (!before.empty()) settle_shapes(loop, targets, before);
  execute(loop.body);
  sizes_.remove_unknown(counter);
}

void Analyzer::settle_shapes(const ast::Loop& loop, const std::set<std::string>& targets,
                             std::map<std::string, Value>& before) {
  const bool muted = reporter_.mute(true);
  const std::size_t requirements = sizes_.requirement_count();
  bool settled = false;
  for (int pass = 0; pass < kSettlePasses && !settled; ++pass) {
    execute(loop.body);
    settled = settle(before);
  }
  for (const std::string& name : targets) {
    if (!before.contains(name)) {
      scope_->erase(name);
    } else if (!settled) {
      scope_->find_own(name)->value = {};
    }
  }
  sizes_.forget_requirements(requirements);
  reporter_.mute(muted);
}

bool Analyzer::settle(std::map<std::string, Value>& before) {
  bool settled = true;
  for (auto& [name, value] : before) {
    Value& now = scope_->find_own(name)->value;
    if (now.known != value.known || !same_shape(now, value) || !same_number(now, value)) settled = false;
    if (now.is_number() && !same_number(now, value)) now.number = Number{std::nullopt, std::nullopt, true, {}};
    value = now;
  }
  return settled;
}

}  // namespace cellfuse
