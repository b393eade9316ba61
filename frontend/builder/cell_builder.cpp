#include "frontend/builder/cell_builder.h"

#include <utility>

#include "frontend/builder/recorder.h"

namespace cellfuse::build {

namespace {

void declare(Recorder& recorder, ast::Role role, const std::string& name, std::initializer_list<Argument> shape,
             const Argument* start, const std::source_location& where) {
  ast::Declaration declaration;
  declaration.role = role;
  declaration.name = recorder.identifier(name, where);
  declaration.span = declaration.name.span;
  for (const Argument& extent : shape) declaration.extents.push_back(recorder.written_out(extent));
  if (start != nullptr) declaration.start = recorder.written_out(*start);
  recorder.cell().declarations.push_back(std::move(declaration));
}

/// A function of the arguments and, behind them, of what `more` names; `body` records its statements and returns the
/// result.
ast::Function function_of(Recorder& recorder, const std::shared_ptr<Recorder>& self, std::size_t count,
                          const std::source_location& where,
                          const std::function<ast::ExpressionPtr(const std::vector<Var>&)>& body) {
  ast::Function function;
  function.name = {recorder.made_up_name(), recorder.span(where)};
  std::vector<Var> arguments;
  for (std::size_t i = 0; i < count; ++i) {
    function.parameters.push_back({recorder.made_up_name(), recorder.span(where)});
    arguments.emplace_back(self, function.parameters.back().name);
  }
  const Recorder::Redirect redirect(recorder, function.body);
  function.result = body(arguments);
  return function;
}

}  // namespace

void State::next(const Argument& value) {
  Recorder& recorder = *this->recorder();
  const Span span = recorder.span(value.where);
  recorder.add({span, ast::Advance{{name(), span}, recorder.expression(value)}});
}

Var State::next() const { return {recorder(), name() + "'"}; }

CellBuilder::CellBuilder(const std::string& name, Location where)
    : recorder_(std::make_shared<Recorder>(name, where)) {}

Var CellBuilder::dim(const std::string& name, std::optional<std::int64_t> default_value, Location where) {
  ast::Setting setting{recorder_->identifier(name, where), nullptr};
  if (default_value) setting.value = recorder_->expression(Argument(*default_value, where));
  recorder_->cell().dims.push_back(setting);
  return {recorder_, setting.name.name};
}

Var CellBuilder::constant(const std::string& name, double default_value, Location where) {
  ast::Setting setting{recorder_->identifier(name, where), recorder_->expression(Argument(default_value, where))};
  recorder_->cell().constants.push_back(setting);
  return {recorder_, setting.name.name};
}

Var CellBuilder::input(const std::string& name, std::initializer_list<Argument> shape, Location where) {
  declare(*recorder_, ast::Role::Input, name, shape, nullptr, where);
  return {recorder_, recorder_->cell().declarations.back().name.name};
}

Var CellBuilder::param(const std::string& name, std::initializer_list<Argument> shape, Location where) {
  declare(*recorder_, ast::Role::Param, name, shape, nullptr, where);
  return {recorder_, recorder_->cell().declarations.back().name.name};
}

Var CellBuilder::buffer(const std::string& name, std::initializer_list<Argument> shape, Location where) {
  declare(*recorder_, ast::Role::Buffer, name, shape, nullptr, where);
  return {recorder_, recorder_->cell().declarations.back().name.name};
}

State CellBuilder::state(const std::string& name, std::initializer_list<Argument> shape, const Argument& start,
                         Location where) {
  declare(*recorder_, ast::Role::State, name, shape, &start, where);
  return {recorder_, recorder_->cell().declarations.back().name.name};
}

void CellBuilder::output(const State& state, Location where) {
  const Span span = recorder_->span(where);
  recorder_->add({span, ast::Output{{state.name(), span}, true, nullptr}});
}

void CellBuilder::output(const std::string& name, const Argument& value, Location where) {
  const ast::Identifier identifier = recorder_->identifier(name, where);
  recorder_->add({identifier.span, ast::Output{identifier, false, recorder_->expression(value)}});
}

Var CellBuilder::step_index() { return {recorder_, "t"}; }

Var CellBuilder::number(const Argument& value) {
  return recorder_->define(recorder_, recorder_->made_up_name(), recorder_->expression(value), value.where);
}

Var CellBuilder::repeat(const Argument& begin, const Argument& end, const Argument& initial,
                        const std::function<Var(const Var& k, const Var& carried)>& body) {
  const Var carried = number(initial);
  const Span span = recorder_->span(begin.where);
  ast::Loop loop{{recorder_->made_up_name(), span}, recorder_->expression(begin), recorder_->expression(end), {}};
  {
    const Recorder::Redirect redirect(*recorder_, loop.body);
    const Var next = body({recorder_, loop.variable.name}, carried);
    recorder_->define(recorder_, carried.name(), recorder_->expression(Argument(next, begin.where)), begin.where);
  }
  recorder_->add({span, std::move(loop)});
  return carried;
}

Var CellBuilder::with_gradient(
    const std::vector<Argument>& arguments, const std::function<Var(const std::vector<Var>& arguments)>& value,
    const std::function<std::vector<Var>(const std::vector<Var>& arguments, const Var& g)>& gradients, Location where) {
  Recorder& recorder = *recorder_;
  const std::size_t count = arguments.size();
  const auto result = [&](const Var& var) { return recorder.expression(Argument(var, where)); };
  ast::Function function = function_of(recorder, recorder_, count, where,
                                       [&](const std::vector<Var>& inner) { return result(value(inner)); });
  function.has_gradient = true;
  function.gradient_span = recorder.span(where);
  for (std::size_t i = 0; i < count; ++i) {
    ast::Function gradient = function_of(recorder, recorder_, count + 1, where, [&](const std::vector<Var>& inner) {
      std::vector<Var> each = gradients({inner.begin(), inner.end() - 1}, inner.back());
      if (each.size() != count) {
        recorder.error(where, "there are " + std::to_string(each.size()) + " gradients for " + std::to_string(count) +
                                  " arguments");
        return std::make_shared<const ast::Expression>(ast::Expression{recorder.span(where), ast::Unreadable{}});
      }
      return result(each[i]);
    });
    ast::Call call{gradient.name, {}};
    for (const ast::Identifier& parameter : function.parameters) {
      call.arguments.push_back({{}, Recorder::name_expression(parameter.name, parameter.span)});
    }
    call.arguments.push_back({{}, Recorder::name_expression("g", function.gradient_span)});
    function.gradients.push_back(
        std::make_shared<ast::Expression>(ast::Expression{gradient.name.span, std::move(call)}));
    recorder.functions().push_back(std::move(gradient));
  }
  ast::Call call{function.name, {}};
  for (const Argument& argument : arguments) call.arguments.push_back({{}, recorder.expression(argument)});
  recorder.functions().push_back(std::move(function));
  return recorder.emit(recorder_, std::move(call), where);
}

ParsedFile CellBuilder::file() const {
  ast::File file;
  file.cells.push_back(recorder_->cell());
  ParsedFile parsed(std::move(file), recorder_->diagnostics());
  if (!parsed.check().empty()) recorder_->load_lines();
  return parsed;
}

Cell CellBuilder::build(const Binding& binding) const {
  const ParsedFile parsed = file();
  try {
    return parsed.build("", binding);
  } catch (const CompileError&) {
    recorder_->load_lines();
  }
  return parsed.build("", binding);  // throws again, with the lines shown
}

}  // namespace cellfuse::build
