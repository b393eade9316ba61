#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/language/ast.h"
#include "frontend/language/binding.h"
#include "frontend/language/language.h"
#include "frontend/language/reporter.h"
#include "frontend/language/scope.h"
#include "frontend/language/signature.h"
#include "frontend/language/sizes.h"
#include "frontend/language/value.h"
#include "ir/cell.h"

namespace cellfuse {

/// Most operations, loops unrolled and functions inlined, that a cell may have.
inline constexpr std::int64_t kMaxOperations = 100'000;
/// Deepest nesting of expressions, functions inlined.
inline constexpr int kMaxDepth = 400;

/// The meaning of one cell: resolves names, checks shapes, inlines functions, unrolls loops. With all dimensions bound
/// it builds the graph; without, shapes are symbolic, a loop whose bounds are not known is looked at once, and what
/// the shapes need of the dimensions comes as warnings.
class Analyzer {
 public:
  /// `out` is filled in; null to check only.
  Analyzer(const ast::File& file, const ast::Cell& cell, const Binding& binding, Reporter& reporter, Cell* out);

  /// Reports what is wrong. Leaves `out` unfinished when the reporter has errors.
  void run();
  /// What `run` cost, in steps of the analysis; a later cell of the same text may be charged for it.
  std::int64_t work() const { return work_; }
  void charge(std::int64_t work) { work_ += work; }
  /// The declarations alone; what is wrong about them is left out.
  CellInfo info();

  // What follows is for the implementations of the functions of the language.

  bool building() const { return out_ != nullptr; }
  Sizes& sizes() { return sizes_; }
  Graph& graph() { return out_->graph; }
  Expr expr_of(const Value& value);
  Shape shape_of(const Axes& axes) const;
  std::int32_t next_random_site() { return random_sites_++; }
  /// True in the start of a state, where there is no step yet.
  bool in_start() const { return in_start_; }

  /// An error with notes on where the values' shapes come from and on the calls that led here.
  void error(const Span& span, std::string message, std::string hint = {}, const std::vector<const Value*>& about = {});

  /// A number that is known when the cell is compiled, or std::nullopt behind a report. `what` begins the message.
  const Number* number_of(const Value& value, const Span& span, const std::string& what);
  /// The same as a whole number made of dimensions; std::nullopt also where it is not known yet.
  std::optional<Dim> whole_number_of(const Value& value, const Span& span, const std::string& what);

  /// A value of this shape; `make` gives its expression and is called when a graph is built.
  template <typename Make>
  Value result(Axes axes, const Value& origin, Make make) {
    Value value{true, std::move(axes), {}, {}, {}};
    if (!value.axes.empty()) value.origin = origin.origin;
    if (building()) value.expr = make();
    return value;
  }

  /// Broadcasts the arguments and applies an elementwise operation; folds numbers.
  Value elementwise(const ElementwiseInfo& info, const std::vector<Value>& arguments, const Span& span);
  /// True when `from` broadcasts to exactly `to`.
  bool fits(const Axes& from, const Axes& to, const Span& span);

 private:
  struct Stop {};  // thrown behind a report when it makes no sense to go on
  struct FunctionEntry {
    const ast::Function* function = nullptr;
    bool in_cell = false;
    bool called = false;
  };
  struct Frame {
    const ast::Function* function;
    Span call;
  };

  // analyze_cell.cpp
  void bind_dims();
  void bind_constants();
  void check_bound_names();
  bool define_in_head(const ast::Identifier& name, Symbol::Kind kind, Value value);
  void collect_functions(const std::vector<ast::Function>& functions, bool in_cell);
  void check_function(const ast::Function& function);
  void declare(const ast::Declaration& declaration);
  std::optional<Axes> declared_axes(const ast::Declaration& declaration);
  Expr add_leaf(const ast::Declaration& declaration, const Axes& axes);
  void start_state(const ast::Declaration& declaration);
  void check_states();
  void check_unused();
  void check_uncalled_functions();

  // analyze_statements.cpp
  void spend(const Span& span);
  void execute(const std::vector<ast::Statement>& statements);
  void execute(const ast::Assign& assign, const Span& span);
  void execute(const ast::Advance& advance, const Span& span);
  void execute(const ast::Output& output, const Span& span);
  void execute(const ast::Loop& loop, const Span& span);
  void repeat_body(const ast::Loop& loop, std::int64_t begin, std::int64_t end);
  void execute_once(const ast::Loop& loop);
  void settle_shapes(const ast::Loop& loop, const std::set<std::string>& targets, std::map<std::string, Value>& before);
  bool settle(std::map<std::string, Value>& before);
  void set_counter(const ast::Loop& loop, Number number);
  std::vector<Value> split(const ast::Expression& expression, std::size_t count);
  void define(const ast::Identifier& target, Value value);
  bool refuse_name(const ast::Identifier& name);
  void add_output(const ast::Identifier& name, Value value);

  // analyze_expressions.cpp
  Value evaluate(const ast::ExpressionPtr& expression);
  Value evaluate_node(const ast::Expression& expression);
  Value evaluate(const ast::Number& number);
  Value evaluate(const ast::Name& name, const Span& span);
  Value evaluate(const ast::Unary& unary, const Span& span);
  Value evaluate(const ast::Chain& chain, const Span& span);
  Value next_value(const std::string& name, const Span& span);
  Value unknown_name(const std::string& name, const Span& span);
  Value apply_link(const ast::Link& link, const Value& left, const Value& right, bool behind_product);
  Value matmul(const Value& left, const Value& right, const Span& span, bool behind_product);
  bool leaves_remainder(const Dim& dividend, const Dim& divisor) const;
  Number fold(const ElementwiseInfo& info, const std::vector<Value>& arguments, const Span& span);

  // analyze_index.cpp
  struct View;
  Value evaluate(const ast::Index& index, const Span& span);
  bool read_subscript(const ast::Subscript& subscript, View& view);
  bool check_range(const Dim& begin, const Dim& end, const ast::Subscript& subscript, const View& view);

  // analyze_calls.cpp
  Value evaluate(const ast::Call& call, const Span& span);
  std::optional<Arguments> bind_arguments(const Signature& signature, const ast::Call& call, const Span& span);
  class CallGuard;
  Value call_user_function(FunctionEntry& entry, const ast::Call& call, const Span& span);
  Value run_function(const FunctionEntry& entry, const Arguments& arguments, const Span& span);
  Value attach_gradient(const ast::Function& function, const Value& value, const Arguments& arguments);
  std::optional<Expr> gradient_of(const ast::ExpressionPtr& gradient, const Value& argument);
  Value unknown_function(const ast::Call& call);
  std::vector<std::string> function_names() const;

  const ast::File& file_;
  const ast::Cell& ast_;
  const Binding& given_;
  Reporter& reporter_;
  Cell* out_;

  DimBinding dims_;
  Sizes sizes_;
  Scope cell_scope_;
  Scope* scope_ = &cell_scope_;
  std::map<std::string, Value> next_;
  std::map<std::string, Span> outputs_;
  std::map<std::string, Span> later_;  // where the statements of the cell define each name; `h'` for states
  std::map<std::string, FunctionEntry> functions_;
  std::vector<Frame> frames_;
  std::int64_t work_ = 0;
  int depth_ = 0;
  int loop_depth_ = 0;
  std::int32_t random_sites_ = 0;
  std::int32_t user_gradients_ = 0;
  bool in_start_ = false;
};

}  // namespace cellfuse
