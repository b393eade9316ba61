#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/language/analyzer.h"
#include "frontend/language/functions.h"

namespace cellfuse {

namespace {

Symbol::Kind kind_of(ast::Role role) {
  switch (role) {
    case ast::Role::Input: return Symbol::Kind::Input;
    case ast::Role::State: return Symbol::Kind::State;
    case ast::Role::Param: return Symbol::Kind::Param;
    case ast::Role::Buffer: return Symbol::Kind::Buffer;
  }
  return Symbol::Kind::Local;
}

/// Where the statements define each name, loops included; `h'` for the next value of a state.
void collect_definitions(const std::vector<ast::Statement>& statements, std::map<std::string, Span>& names) {
  for (const ast::Statement& statement : statements) {
    if (const auto* assign = std::get_if<ast::Assign>(&statement.node)) {
      for (const ast::Identifier& target : assign->targets) names.try_emplace(target.name, target.span);
    } else if (const auto* advance = std::get_if<ast::Advance>(&statement.node)) {
      names.try_emplace(advance->state.name + "'", advance->state.span);
    } else if (const auto* output = std::get_if<ast::Output>(&statement.node)) {
      if (output->value) names.try_emplace(output->name.name, output->name.span);
    } else if (const auto* loop = std::get_if<ast::Loop>(&statement.node)) {
      collect_definitions(loop->body, names);
    }
  }
}

std::string list_of(const std::vector<std::string>& names, const std::string& before, const std::string& between,
                    const std::string& behind = {}) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : between) + before + name + behind;
  return text;
}

}  // namespace

void Analyzer::run() {
  try {
    if (building()) {
      out_->name = ast_.name.name;
      out_->graph = {};
    }
    bind_dims();
    bind_constants();
    if (building()) out_->dims = dims_;
    check_bound_names();
    if (building() && reporter_.has_errors()) return;
    collect_functions(file_.functions, false);
    collect_functions(ast_.functions, true);
    collect_definitions(ast_.statements, later_);
    for (const ast::Declaration& declaration : ast_.declarations) declare(declaration);
    for (const ast::Declaration& declaration : ast_.declarations) start_state(declaration);
    execute(ast_.statements);
    check_states();
    check_uncalled_functions();
    check_unused();
    sizes_.report_requirements();
  } catch (const Stop&) {
    return;  // the reason was reported
  }
}

CellInfo Analyzer::info() {
  CellInfo info;
  info.name = ast_.name.name;
  try {
    for (const ast::Setting& dim : ast_.dims) {
      std::optional<std::int64_t> value;
      if (dim.value) {
        const std::optional<Dim> whole = whole_number_of(evaluate(dim.value), dim.value->span, "a default");
        if (whole) value = whole->constant();
      }
      info.dims.push_back({dim.name.name, value});
    }
    bind_dims();
    bind_constants();
    for (const ast::Setting& constant : ast_.constants) {
      const Symbol* symbol = cell_scope_.find_own(constant.name.name);
      const bool known = symbol != nullptr && symbol->value.is_number() && symbol->value.number->value;
      info.constants.push_back({constant.name.name, known ? *symbol->value.number->value : 0});
    }
    for (const ast::Declaration& declaration : ast_.declarations) {
      const std::optional<Axes> axes = declared_axes(declaration);
      CellInfo::Declared declared{declaration.name.name, {}};
      for (const Axis& axis : axes.value_or(Axes{})) declared.shape.push_back(axis.dim);
      const bool is_input = declaration.role == ast::Role::Input;
      auto& list = is_input ? info.inputs : (declaration.role == ast::Role::State ? info.states : info.params);
      list.push_back(std::move(declared));
    }
  } catch (const Stop&) {
    return info;
  }
  return info;
}

bool Analyzer::define_in_head(const ast::Identifier& name, Symbol::Kind kind, Value value) {
  if (refuse_name(name)) return false;
  if (const Symbol* old = cell_scope_.find_own(name.name)) {
    reporter_.error(name.span, "`" + name.name + "` is already defined", "",
                    {note(old->span, "it is " + describe(old->kind) + ", defined here")});
    return false;
  }
  cell_scope_.define(name.name, {kind, std::move(value), name.span, false});
  return true;
}

void Analyzer::bind_dims() {
  std::vector<std::string> missing;
  for (const ast::Setting& dim : ast_.dims) {
    const std::string& name = dim.name.name;
    std::optional<std::int64_t> value;
    if (dim.value) {
      const std::optional<Dim> whole =
          whole_number_of(evaluate(dim.value), dim.value->span, "the default of a dimension");
      if (whole) value = whole->constant();
    }
    if (const auto given = given_.dims.find(name); given != given_.dims.end()) {
      value = given->second;
    } else if (!building()) {
      value.reset();  // a check is about all values
    }
    if (value && (*value < 1 || *value > kMaxAxisSize)) {
      reporter_.error(dim.name.span, "the dimension `" + name + "` is " + std::to_string(*value),
                      "a dimension is from 1 to 2^31");
      value = 1;
    }
    if (value) dims_[name] = *value;
    if (building() && !value) missing.push_back(name);
    Number number{Dim::symbol(name), std::nullopt, false, {}};
    if (value) number.value = static_cast<double>(*value);
    define_in_head(dim.name, Symbol::Kind::Dim, Value::scalar(std::move(number)));
  }
  if (missing.empty()) return;
  reporter_.error(ast_.name.span,
                  (missing.size() == 1 ? "the dimension " : "the dimensions ") + list_of(missing, "`", ", ", "`") +
                      " of `" + ast_.name.name + "` " + (missing.size() == 1 ? "has" : "have") + " no value",
                  "give a value to each: " + list_of(missing, "-D ", " ", "=..."));
}

void Analyzer::bind_constants() {
  for (const ast::Setting& constant : ast_.constants) {
    const Value value = evaluate(constant.value);
    std::optional<double> number;
    const Number* computed = number_of(value, constant.value->span, "the default of a constant");
    if (computed != nullptr && computed->value) number = computed->value;
    if (const auto given = given_.constants.find(constant.name.name); given != given_.constants.end()) {
      number = given->second;
    }
    define_in_head(constant.name, Symbol::Kind::Constant, number ? Value::scalar(Number::of(*number)) : Value{});
  }
}

void Analyzer::check_bound_names() {
  std::vector<std::string> dims;
  std::vector<std::string> constants;
  for (const ast::Setting& dim : ast_.dims) dims.push_back(dim.name.name);
  for (const ast::Setting& constant : ast_.constants) constants.push_back(constant.name.name);
  const auto check = [&](const std::string& name, const std::vector<std::string>& known, const std::string& what) {
    if (std::ranges::find(known, name) != known.end()) return;
    const std::string all = list_of(known, "`", ", ", "`");
    const std::string guess = did_you_mean(name, known);
    reporter_.error(ast_.name.span, "`" + ast_.name.name + "` has no " + what + " `" + name + "`",
                    !guess.empty() ? guess : (all.empty() ? "it has none" : "it has " + all));
  };
  for (const auto& [name, value] : given_.dims) check(name, dims, "dimension");
  for (const auto& [name, value] : given_.constants) check(name, constants, "constant");
}

void Analyzer::collect_functions(const std::vector<ast::Function>& functions, bool in_cell) {
  for (const ast::Function& function : functions) {
    const std::string& name = function.name.name;
    if (find_elementwise(name) != nullptr || find_language_function(name) != nullptr) {
      reporter_.error(function.name.span, "`" + name + "` is a function of the language and cannot be redefined");
      continue;
    }
    check_function(function);
    const auto [entry, inserted] = functions_.try_emplace(name, FunctionEntry{&function, in_cell, false});
    if (inserted) continue;
    reporter_.error(function.name.span, "there is already a function `" + name + "`", "",
                    {note(entry->second.function->name.span, "it is defined here")});
  }
}

void Analyzer::check_function(const ast::Function& function) {
  std::set<std::string> names;
  for (const ast::Identifier& parameter : function.parameters) {
    if (refuse_name(parameter)) continue;
    if (!names.insert(parameter.name).second) {
      reporter_.error(parameter.span, "there is already an argument `" + parameter.name + "`");
    }
    if (function.has_gradient && parameter.name == "g") {
      reporter_.error(parameter.span, "behind `grad`, `g` is the incoming gradient: no argument may be called `g`");
    }
  }
  if (function.has_gradient && function.gradients.size() != function.parameters.size()) {
    reporter_.error(function.gradient_span,
                    "`" + function.name.name + "` has " + std::to_string(function.parameters.size()) +
                        " arguments and " + std::to_string(function.gradients.size()) + " gradients",
                    "behind `grad` stands the gradient of each argument, separated by commas");
  }
}

void Analyzer::declare(const ast::Declaration& declaration) {
  const std::optional<Axes> axes = declared_axes(declaration);
  Value value;
  if (axes) {
    value = {true, *axes, {}, {}, {}};
    value.origin = std::make_shared<Origin>(
        Origin{"`" + declaration.name.name + "` is declared as " + describe(*axes) + " here", declaration.span});
  }
  if (axes && building()) value.expr = add_leaf(declaration, *axes);
  define_in_head(declaration.name, kind_of(declaration.role), std::move(value));
}

std::optional<Axes> Analyzer::declared_axes(const ast::Declaration& declaration) {
  if (declaration.extents.size() > 2) {
    error(declaration.span, "`" + declaration.name.name + "` has " + std::to_string(declaration.extents.size()) +
                                " axes, a value has at most two");
    return std::nullopt;
  }
  Axes axes;
  for (const ast::ExpressionPtr& extent : declaration.extents) {
    const Value value = evaluate(extent);
    const std::optional<Dim> size = whole_number_of(value, extent->span, "a size");
    if (!size || !sizes_.check_limits({sizes_.axis(*size)}, extent->span)) return std::nullopt;
    axes.push_back(sizes_.axis(*size));
  }
  if (!sizes_.check_limits(axes, declaration.span)) return std::nullopt;
  return axes;
}

Expr Analyzer::add_leaf(const ast::Declaration& declaration, const Axes& axes) {
  const Shape shape = shape_of(axes);
  const std::string& name = declaration.name.name;
  const auto add = [&](Op op, std::size_t index) { return leaf(graph(), op, static_cast<std::int32_t>(index), shape); };
  Expr expr;
  switch (declaration.role) {
    case ast::Role::Input:
      expr = add(Op::Input, out_->inputs.size());
      out_->inputs.push_back({name, shape, InputRole::Data, declaration.span});
      break;
    case ast::Role::State:
      expr = add(Op::State, out_->states.size());
      out_->states.push_back({name, shape, kNoNode, kNoNode, declaration.span});
      break;
    case ast::Role::Param:
    case ast::Role::Buffer:
      expr = add(Op::Param, out_->params.size());
      out_->params.push_back({name, shape, declaration.role == ast::Role::Param, declaration.span});
      break;
  }
  graph().set_name(expr.id, name);
  graph().set_span(expr.id, declaration.span);
  return expr;
}

void Analyzer::start_state(const ast::Declaration& declaration) {
  if (declaration.role != ast::Role::State) return;
  const Symbol* state = cell_scope_.find_own(declaration.name.name);
  if (state == nullptr || state->kind != Symbol::Kind::State || !state->value.known) return;
  Value start = Value::scalar(Number::of(0));
  if (declaration.start) {
    in_start_ = true;
    start = evaluate(declaration.start);
    in_start_ = false;
    if (!start.known) return;
    if (!fits(start.axes, state->value.axes, declaration.start->span)) {
      error(declaration.start->span,
            "the start of `" + declaration.name.name + "` must have its shape, " + describe(state->value.axes) +
                ", found " + describe(start.axes) + sizes_.values_of(start.axes, state->value.axes),
            "", {&state->value, &start});
      return;
    }
  }
  if (!building()) return;
  for (std::size_t i = 0; i < out_->states.size(); ++i) {
    CellState& carried = out_->states[i];
    if (carried.name != declaration.name.name) continue;
    const auto index = static_cast<std::int32_t>(i);
    const Expr otherwise = broadcast_to(expr_of(start), carried.shape);
    carried.start =
        where(leaf(graph(), Op::InitialGiven, index, {}), leaf(graph(), Op::Initial, index, carried.shape), otherwise)
            .id;
  }
}

void Analyzer::check_states() {
  if (ast_.incomplete) return;
  for (const ast::Declaration& declaration : ast_.declarations) {
    const std::string& name = declaration.name.name;
    if (declaration.role != ast::Role::State || next_.contains(name)) continue;
    reporter_.error(declaration.name.span, "the state `" + name + "` is never given its next value",
                    "write `" + name + "' = ...`");
  }
}

void Analyzer::check_uncalled_functions() {
  for (auto& [name, entry] : functions_) {
    if (entry.called) continue;
    // Nothing is known of its arguments, but its names can be looked up.
    Arguments arguments;
    arguments.values.resize(entry.function->parameters.size());
    run_function(entry, arguments, {});
  }
}

void Analyzer::check_unused() {
  if (ast_.incomplete || reporter_.has_errors()) return;
  for (const auto& [name, symbol] : cell_scope_.symbols()) {
    const bool typed = !name.starts_with('.') && !name.starts_with('_');
    if (symbol.used || !typed || symbol.kind == Symbol::Kind::State) continue;
    const std::string kind = describe(symbol.kind);
    reporter_.warning(symbol.span, kind.substr(kind.find(' ') + 1) + " `" + name + "` is never used");
  }
}

}  // namespace cellfuse
