#include "ir/ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/expr.h"

namespace cellfuse {

namespace {

struct Derivatives {
  std::vector<Expr> (*each)(Expr g, Expr a, Expr b, Expr c, Expr y);
  bool zero_times_anything;
};

using Expansion = Expr (*)(Expr a, Expr b, Expr c);

ElementwiseInfo row(Op op, std::string_view spelling, std::string_view arguments, Cost cost,
                    double (*evaluate)(double, double, double), Derivatives derivatives, Expansion expand,
                    std::string_view cpu) {
  int arity = 1 + static_cast<int>(std::count(arguments.begin(), arguments.end(), ','));
  return {op,     spelling, arguments, arity, cost, evaluate, derivatives.each, derivatives.zero_times_anything,
          expand, cpu};
}

const std::vector<ElementwiseInfo>& table() {
  constexpr Cost FREE = Cost::Free;
  constexpr Cost CHEAP = Cost::Cheap;
  constexpr Cost COSTLY = Cost::Costly;
  constexpr Cost TRANSCENDENTAL = Cost::Transcendental;
  static const Expr zero{};
#define DERIVATIVE_LAMBDA(...)                                                                                       \
  [](                                                                                                                \
      [[maybe_unused]] Expr g, [[maybe_unused]] Expr a, [[maybe_unused]] Expr b, [[maybe_unused]] Expr c,            \
      [[maybe_unused]] Expr y) { return std::vector<Expr>{__VA_ARGS__}; }
#define EACH(...) Derivatives{DERIVATIVE_LAMBDA(__VA_ARGS__), false}
#define ZERO_TIMES_ANYTHING(...) Derivatives{DERIVATIVE_LAMBDA(__VA_ARGS__), true}
#define OF_EXPANSION Derivatives{nullptr, false}
#define AS(...) \
  [](            \
      [[maybe_unused]] Expr a, [[maybe_unused]] Expr b, [[maybe_unused]] Expr c) -> Expr { return __VA_ARGS__; }
#define PRIMITIVE nullptr
#define ELEMENTWISE(name, spelling, arguments, cost, meaning, derivatives, expansion, cpu)                           \
  row(                                                                                                               \
      Op::name, #spelling, arguments, cost,                                                                           \
      []([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double c) -> double { return meaning; }, \
      derivatives, expansion, cpu),
  static const std::vector<ElementwiseInfo> rows{
#include "ir/elementwise.def"
  };
#undef ELEMENTWISE
#undef PRIMITIVE
#undef AS
#undef OF_EXPANSION
#undef ZERO_TIMES_ANYTHING
#undef EACH
#undef DERIVATIVE_LAMBDA
  return rows;
}

constexpr std::array<std::string_view, 27> kOtherNames{
    "constant", "iota",   "input",    "state",  "param",  "initial", "initial_given", "final",      "t",
    "training", "random", "gradient", "slice",  "concat", "reshape", "transpose",     "broadcast",  "sum",
    "prod",     "amax",   "amin",     "cumsum", "matmul", "outer",   "with_grad",     "accumulate", "accumulate_outer"};

}  // namespace

std::span<const ElementwiseInfo> elementwise_ops() { return table(); }

bool is_elementwise(Op op) { return static_cast<std::size_t>(op) < static_cast<std::size_t>(Op::Constant); }

const ElementwiseInfo& elementwise(Op op) {
  check_internal(is_elementwise(op), "elementwise", "not an elementwise operation");
  return table()[static_cast<std::size_t>(op)];
}

const ElementwiseInfo* find_elementwise(std::string_view name) {
  if (name.starts_with('.')) return nullptr;
  for (const ElementwiseInfo& info : table()) {
    if (info.spelling == name) return &info;
  }
  return nullptr;
}

std::string_view name(Op op) {
  if (is_elementwise(op)) {
    std::string_view spelling = elementwise(op).spelling;
    return spelling.starts_with('.') ? spelling.substr(1) : spelling;
  }
  if (op == Op::Linear) return "linear";
  return kOtherNames[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::Constant)];
}

bool is_leaf(Op op) { return op >= Op::Constant && op <= Op::Placeholder; }

bool is_view(Op op) { return op >= Op::Slice && op <= Op::Broadcast; }

bool is_reduction(Op op) { return op >= Op::Sum && op <= Op::AMin; }

Cost cost(Op op) {
  if (is_elementwise(op)) return elementwise(op).cost;
  if (op == Op::Random) return Cost::Transcendental;
  if (is_leaf(op) || is_view(op) || op == Op::WithGrad) return Cost::Free;
  return Cost::Cheap;
}

}  // namespace cellfuse
