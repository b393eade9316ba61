#include "frontend/builder/recorder.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace cellfuse::build {

namespace {

/// Most operations in the size of an axis or the start of a state.
constexpr int kMaxWrittenOut = 100;

bool is_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name[0]) && std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); });
}

}  // namespace

Recorder::Recorder(const std::string& name, const Location& where) { cell_.name = identifier(name, where); }

Span Recorder::span(const Location& where) {
  std::shared_ptr<Source>& line = lines_[{where.file_name(), where.line()}];
  if (line == nullptr) line = std::make_shared<Source>(where.file_name(), "", where.line());
  const std::uint32_t column = where.column() > 0 ? where.column() - 1 : 0;
  return {line, column, column + 1};
}

ast::Identifier Recorder::identifier(const std::string& name, const Location& where) {
  if (!is_name(name)) {
    error(where, "`" + name + "` is not a name", "names are made of ASCII letters, digits and `_`");
    return {made_up_name(), span(where)};
  }
  return {name, span(where)};
}

void Recorder::error(const Location& where, const std::string& message, const std::string& hint) {
  diagnostics_.push_back({Severity::Error, message, span(where), hint, {}});
}

ast::ExpressionPtr Recorder::name_expression(const std::string& name, const Span& span) {
  const bool next = name.ends_with('\'');
  return std::make_shared<ast::Expression>(
      ast::Expression{span, ast::Name{next ? name.substr(0, name.size() - 1) : name, next}});
}

ast::ExpressionPtr Recorder::expression(const Argument& argument) {
  const Span place = span(argument.where);
  if (!argument.var) {
    return std::make_shared<ast::Expression>(ast::Expression{place, ast::Number{argument.number, argument.whole}});
  }
  if (argument.var->recorder().get() != this) {
    error(argument.where, "this value belongs to another cell");
    return std::make_shared<ast::Expression>(ast::Expression{place, ast::Unreadable{}});
  }
  return name_expression(argument.var->name(), place);
}

ast::ExpressionPtr Recorder::written_out(const Argument& argument) {
  int budget = kMaxWrittenOut;
  ast::ExpressionPtr result = write_out(expression(argument), budget);
  if (budget < 0) {
    error(argument.where, "this takes more than " + std::to_string(kMaxWrittenOut) + " operations in a declaration");
    return std::make_shared<ast::Expression>(ast::Expression{span(argument.where), ast::Unreadable{}});
  }
  return result;
}

ast::ExpressionPtr Recorder::write_out(const ast::ExpressionPtr& expression, int& budget) const {
  if (--budget < 0) return expression;
  const auto make = [&](auto node) {
    return std::make_shared<ast::Expression>(ast::Expression{expression->span, std::move(node)});
  };
  if (const auto* name = std::get_if<ast::Name>(&expression->node)) {
    const auto value = values_.find(name->name);
    return value == values_.end() ? expression : write_out(value->second, budget);
  }
  if (const auto* unary = std::get_if<ast::Unary>(&expression->node)) {
    return make(ast::Unary{unary->op, write_out(unary->operand, budget)});
  }
  if (const auto* chain = std::get_if<ast::Chain>(&expression->node)) {
    ast::Chain copy{write_out(chain->first, budget), chain->rest};
    for (ast::Link& link : copy.rest) link.operand = write_out(link.operand, budget);
    return make(std::move(copy));
  }
  if (const auto* call = std::get_if<ast::Call>(&expression->node)) {
    ast::Call copy = *call;
    for (ast::Argument& argument : copy.arguments) argument.value = write_out(argument.value, budget);
    return make(std::move(copy));
  }
  return expression;
}

Var Recorder::define(const std::shared_ptr<Recorder>& self, const std::string& name, ast::ExpressionPtr value,
                     const Location& where) {
  values_[name] = value;
  add({span(where), ast::Assign{{{name, span(where)}}, std::move(value)}});
  return {self, name};
}

void Recorder::load_lines() {
  std::string open_name;
  std::ifstream file;
  std::size_t next_line = 1;
  std::string text;
  for (auto& [place, source] : lines_) {
    const auto& [name, line] = place;
    if (name != open_name) {
      open_name = name;
      file = std::ifstream(name);
      next_line = 1;
    }
    // Lines come in ascending order, so each file is read once.
    for (; next_line <= line && std::getline(file, text); ++next_line) {
    }
    if (next_line == line + 1) *source = Source(name, text, line);
  }
}

std::shared_ptr<Recorder> recorder_of(const std::vector<Argument>& arguments) {
  for (const Argument& argument : arguments) {
    if (argument.var) return argument.var->recorder();
  }
  throw UsageError("a function of numbers alone belongs to no cell: start from CellBuilder::number");
}

}  // namespace cellfuse::build
