#include <algorithm>
#include <array>
#include <utility>

#include "frontend/language/analyzer.h"
#include "frontend/language/functions.h"

namespace cellfuse {

namespace {

struct Synonym {
  std::string_view foreign;
  std::string_view hint;
};

/// Names that other tools have for what the language calls differently.
constexpr std::array<Synonym, 17> kSynonyms{
    {{"maximum", "the larger one is `max(a, b)`"},
     {"minimum", "the smaller one is `min(a, b)`"},
     {"cat", "vectors are joined by `concat`"},
     {"concatenate", "vectors are joined by `concat`"},
     {"stack", "vectors are joined by `concat`"},
     {"chunk", "parts are taken by `a, b = split(x, 2)`"},
     {"clip", "did you mean `clamp`?"},
     {"norm", "did you mean `norm2`?"},
     {"swish", "did you mean `silu`?"},
     {"logistic", "did you mean `sigmoid`?"},
     {"heaviside", "did you mean `step`?"},
     {"stop_gradient", "did you mean `detach`?"},
     {"matmul", "a matrix product is written `A @ b`"},
     {"dot", "a matrix product is written `A @ b`, an inner product `sum(a * b)`"},
     {"max_along", "along an axis it is `amax`"},
     {"ln", "did you mean `log`?"},
     {"argmax", "did you mean `argmax_onehot`?"}}};

}  // namespace

std::vector<std::string> Analyzer::function_names() const {
  std::vector<std::string> names;
  for (const ElementwiseInfo& info : elementwise_ops()) {
    if (!info.spelling.starts_with('.')) names.emplace_back(info.spelling);
  }
  for (const FunctionInfo& info : language_functions()) names.emplace_back(info.name);
  const bool in_cell = scope_->within(cell_scope_);
  for (const auto& [name, entry] : functions_) {
    if (in_cell || !entry.in_cell) names.push_back(name);
  }
  return names;
}

Value Analyzer::evaluate(const ast::Call& call, const Span& span) {
  const std::string& name = call.function.name;
  if (const ElementwiseInfo* info = find_elementwise(name)) {
    const auto arguments = bind_arguments(Signature::read(name, info->arguments), call, span);
    return arguments ? elementwise(*info, arguments->values, span) : Value{};
  }
  if (const FunctionInfo* info = find_language_function(name)) {
    const auto arguments = bind_arguments(Signature::read(name, info->parameters), call, span);
    if (!arguments || !arguments->all_known()) return {};
    return info->analyze({*this, info->name, *arguments, span});
  }
  const auto entry = functions_.find(name);
  if (entry == functions_.end() || (entry->second.in_cell && !scope_->within(cell_scope_)))
    return unknown_function(call);
  return call_user_function(entry->second, call, span);
}

Value Analyzer::unknown_function(const ast::Call& call) {
  for (const ast::Argument& argument : call.arguments) evaluate(argument.value);
  const std::string& name = call.function.name;
  if (file_.functions_incomplete) return {};
  if (const Symbol* symbol = scope_->find(name)) {
    error(call.function.span, "`" + name + "` is " + describe(symbol->kind) + ", not a function",
          "a product is written `" + name + " * (...)`, an element `" + name + "[...]`");
    return {};
  }
  const auto* synonym = std::ranges::find(kSynonyms, name, &Synonym::foreign);
  error(call.function.span, "there is no function `" + name + "`",
        synonym != kSynonyms.end() ? std::string(synonym->hint) : did_you_mean(name, function_names()));
  return {};
}

std::optional<Arguments> Analyzer::bind_arguments(const Signature& signature, const ast::Call& call, const Span& span) {
  const std::size_t count = signature.parameters.size();
  Arguments arguments;
  arguments.values.resize(count);
  arguments.spans.assign(count, span);
  arguments.given.assign(count, false);
  bool complete = true;
  const auto complain = [&](const Span& where, const std::string& what, const std::string& hint = {}) {
    error(where, "`" + signature.function + "` " + what, hint.empty() ? "it is `" + signature.str() + "`" : hint);
    complete = false;
  };
  std::size_t position = 0;
  for (const ast::Argument& argument : call.arguments) {
    Value value = evaluate(argument.value);
    std::size_t i = position;
    if (!argument.keyword.name.empty()) {
      const auto found = std::ranges::find(signature.parameters, argument.keyword.name, &Signature::Parameter::name);
      if (found == signature.parameters.end()) {
        std::vector<std::string> names;
        for (const Signature::Parameter& parameter : signature.parameters) names.push_back(parameter.name);
        complain(argument.keyword.span, "has no argument `" + argument.keyword.name + "`",
                 did_you_mean(argument.keyword.name, names));
        continue;
      }
      i = static_cast<std::size_t>(found - signature.parameters.begin());
    } else if (++position > count && !signature.variadic) {
      complain(argument.value->span,
               "takes at most " + std::to_string(count) + (count == 1 ? " argument" : " arguments"));
      break;
    }
    if (i >= arguments.values.size()) {
      arguments.values.emplace_back();
      arguments.spans.emplace_back();
      arguments.given.push_back(false);
    }
    if (arguments.given[i]) complain(argument.value->span, "is given `" + signature.parameters[i].name + "` twice");
    arguments.values[i] = std::move(value);
    arguments.spans[i] = argument.value->span;
    arguments.given[i] = true;
  }
  for (std::size_t i = 0; i < count && complete; ++i) {
    const Signature::Parameter& parameter = signature.parameters[i];
    if (arguments.given[i] || parameter.optional) continue;
    if (!parameter.default_value) {
      complain(span, "needs `" + parameter.name + "`");
    } else {
      Number number = Number::of(*parameter.default_value);
      const auto whole = static_cast<std::int64_t>(*parameter.default_value);
      if (static_cast<double>(whole) == *parameter.default_value) number.dim = Dim(whole);
      arguments.values[i] = Value::scalar(number);
    }
  }
  if (!complete) return std::nullopt;
  return arguments;
}

Value Analyzer::call_user_function(FunctionEntry& entry, const ast::Call& call, const Span& span) {
  entry.called = true;
  const std::optional<Arguments> arguments = bind_arguments(Signature::of(*entry.function), call, span);
  if (!arguments) return {};
  const auto same = [&](const Frame& frame) { return frame.function == entry.function; };
  if (std::ranges::any_of(frames_, same)) {
    error(call.function.span, "the function `" + call.function.name + "` calls itself",
          "functions are inlined, so they cannot be recursive; a fixed number of rounds is a `for` loop");
    return {};
  }
  return run_function(entry, *arguments, span);
}

/// Makes the names of a call the current ones while it lives.
class Analyzer::CallGuard {
 public:
  CallGuard(Analyzer& analyzer, Scope& scope, Frame frame)
      : analyzer_(analyzer),
        outer_scope_(std::exchange(analyzer.scope_, &scope)),
        outer_loops_(std::exchange(analyzer.loop_depth_, 0)) {
    analyzer_.frames_.push_back(std::move(frame));
  }
  ~CallGuard() {
    analyzer_.frames_.pop_back();
    analyzer_.loop_depth_ = outer_loops_;
    analyzer_.scope_ = outer_scope_;
  }
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

 private:
  Analyzer& analyzer_;
  Scope* outer_scope_;
  int outer_loops_;
};

Value Analyzer::run_function(const FunctionEntry& entry, const Arguments& arguments, const Span& span) {
  const ast::Function& function = *entry.function;
  Scope scope(entry.in_cell ? &cell_scope_ : nullptr);
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const ast::Identifier& parameter = function.parameters[i];
    scope.define(parameter.name, {Symbol::Kind::Argument, arguments.values[i], parameter.span, true});
  }
  const CallGuard guard(*this, scope, {&function, span});
  execute(function.body);
  Value value = evaluate(function.result);
  if (function.has_gradient && value.known && !value.is_number()) value = attach_gradient(function, value, arguments);
  return value;
}

Value Analyzer::attach_gradient(const ast::Function& function, const Value& value, const Arguments& arguments) {
  if (function.gradients.size() != function.parameters.size()) return value;
  const std::int32_t index = user_gradients_++;
  Value incoming{true, value.axes, {}, {}, value.origin};
  if (building()) incoming.expr = leaf(graph(), Op::Placeholder, index, shape_of(value.axes));
  scope_->define("g", {Symbol::Kind::Argument, incoming, function.gradient_span, true});
  std::vector<Expr> inputs;
  std::vector<Expr> gradients;
  for (std::size_t i = 0; i < function.gradients.size(); ++i) {
    const Value& argument = arguments.values[i];
    const std::optional<Expr> gradient = gradient_of(function.gradients[i], argument);
    if (argument.is_number() || !building()) continue;
    if (!gradient) return {};
    inputs.push_back(argument.expr);
    gradients.push_back(*gradient);
  }
  if (inputs.empty()) return value;
  Value result = value;
  result.expr = with_grad(value.expr, inputs, gradients, index);
  return result;
}

/// The value of a gradient in the shape of its argument: what was broadcast is summed.
std::optional<Expr> Analyzer::gradient_of(const ast::ExpressionPtr& gradient, const Value& argument) {
  const Value value = evaluate(gradient);
  if (!value.known || !argument.known) return std::nullopt;
  if (argument.is_number()) return Expr{};
  if (!fits(argument.axes, value.axes, gradient->span)) {
    if (fits(value.axes, argument.axes, gradient->span)) {
      return building() ? broadcast_to(expr_of(value), shape_of(argument.axes)) : Expr{};
    }
    error(gradient->span, "the gradient must have the shape of the argument, " + describe(argument.axes) + ", found " +
                              describe(value.axes) + sizes_.values_of(argument.axes, value.axes));
    return std::nullopt;
  }
  if (!building()) return Expr{};
  Expr sum_of = expr_of(value);
  Axes axes = value.axes;
  while (axes.size() > argument.axes.size()) {
    sum_of = sum(sum_of, 0);
    axes.erase(axes.begin());
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (argument.axes[i].dim.constant() != 1 || axes[i].dim.constant() == 1) continue;
    axes[i] = argument.axes[i];
    sum_of = reshape(sum(sum_of, static_cast<int>(i)), shape_of(axes));
  }
  return sum_of;
}

}  // namespace cellfuse
