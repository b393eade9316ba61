#pragma once

#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "frontend/builder/var.h"
#include "frontend/language/ast.h"
#include "ir/diagnostic.h"

namespace cellfuse::build {

/// Writes down what the expressions of a builder do, as the tree that the parser of the language makes. Each operation
/// becomes a statement with a made-up name, so that a Var used twice is computed once.
class Recorder {
 public:
  using Location = std::source_location;

  explicit Recorder(const std::string& name, const Location& where);

  ast::Cell& cell() { return cell_; }
  /// Functions, with gradients of their own, that the statements call.
  std::vector<ast::Function>& functions() { return cell_.functions; }
  const ast::Cell& cell() const { return cell_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

  Span span(const Location& where);
  /// A name for a declaration; one that the language does not allow is reported.
  ast::Identifier identifier(const std::string& name, const Location& where);
  /// A name that no user can write.
  std::string made_up_name() { return "." + std::to_string(next_name_++); }
  void error(const Location& where, const std::string& message, const std::string& hint = {});

  ast::ExpressionPtr expression(const Argument& argument);
  /// The same for a declaration, which knows no statements: what was computed is written out in full.
  ast::ExpressionPtr written_out(const Argument& argument);
  static ast::ExpressionPtr name_expression(const std::string& name, const Span& span);

  /// Records `name = node` and returns the Var of that name.
  template <typename Node>
  Var emit(const std::shared_ptr<Recorder>& self, Node node, const Location& where) {
    return define(self, made_up_name(),
                  std::make_shared<ast::Expression>(ast::Expression{span(where), std::move(node)}), where);
  }
  Var define(const std::shared_ptr<Recorder>& self, const std::string& name, ast::ExpressionPtr value,
             const Location& where);
  void add(ast::Statement statement) { open_->push_back(std::move(statement)); }

  /// Statements go to `statements` until the scope ends.
  class Redirect {
   public:
    Redirect(Recorder& recorder, std::vector<ast::Statement>& statements)
        : recorder_(recorder), outer_(std::exchange(recorder.open_, &statements)) {}
    ~Redirect() { recorder_.open_ = outer_; }
    Redirect(const Redirect&) = delete;
    Redirect& operator=(const Redirect&) = delete;

   private:
    Recorder& recorder_;
    std::vector<ast::Statement>* outer_;
  };

  /// Fills in the lines of the program that spans point at, where its files can be read: messages then show them.
  void load_lines();

 private:
  ast::ExpressionPtr write_out(const ast::ExpressionPtr& expression, int& budget) const;

  ast::Cell cell_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<ast::Statement>* open_ = &cell_.statements;
  std::map<std::string, ast::ExpressionPtr> values_;  // of made-up names
  std::map<std::pair<std::string, std::size_t>, std::shared_ptr<Source>> lines_;
  int next_name_ = 0;
};

/// The recorder of the first Var among the arguments. Throws UsageError when there is none.
std::shared_ptr<Recorder> recorder_of(const std::vector<Argument>& arguments);

}  // namespace cellfuse::build
