#include "tests/support/random_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <random>
#include <string_view>
#include <vector>

#include "ir/ops.h"

namespace cellfuse::testing {

namespace {

/// Shapes that occur, as declared.
constexpr std::array<std::string_view, 6> kShapes = {"", "H", "I", "K", "H, K", "K, H"};

int rank_of(std::string_view shape) { return shape.empty() ? 0 : (shape.find(',') == std::string_view::npos ? 1 : 2); }
std::string_view rows_of(std::string_view shape) { return shape.substr(0, shape.find(',')); }
std::string_view columns_of(std::string_view shape) { return shape.substr(shape.rfind(' ') + 1); }

struct TextValue {
  std::string text;
  std::string_view shape;
};

/// Functions whose arguments must be positive, and those where the last one must.
bool needs_positive(std::string_view name, int argument) {
  constexpr std::array<std::string_view, 6> kFirst = {"log", "log1p", "sqrt", "rsqrt", "reciprocal", "pow"};
  if (argument == 0) return std::find(kFirst.begin(), kFirst.end(), name) != kFirst.end();
  return name == "mod" || name == "elu" || name == "leaky_relu";
}

class Writer {
 public:
  explicit Writer(std::uint32_t seed) : engine_(seed) {
    for (const ElementwiseInfo& row : elementwise_ops()) {
      if (row.spelling[0] != '.') functions_.push_back(&row);
    }
  }

  std::string write() {
    declare_values();
    const int statements = 4 + below(9);
    for (int i = 0; i < statements; ++i) statement();
    advance_states();
    hand_out();
    std::string text = fmt::format("cell random(I, H, K; c = {:.2f}) {{\n", 0.1 * (1 + below(8)));
    for (const std::string& line : declarations_) text += "  " + line + "\n";
    for (const std::string& line : lines_) text += "  " + line + "\n";
    return file_head_ + text + "}\n";
  }

 private:
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint32_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  std::string_view any_shape() { return kShapes[static_cast<std::size_t>(below(static_cast<int>(kShapes.size())))]; }
  std::string fresh(const char* prefix) { return fmt::format("{}{}", prefix, names_++); }

  std::string declare(const char* role, const char* prefix, std::string_view shape, const std::string& start = "") {
    const std::string name = fresh(prefix);
    const std::string axes = shape.empty() ? "" : fmt::format("[{}]", shape);
    declarations_.push_back(fmt::format("{} {}{}{}", role, name, axes, start));
    return name;
  }

  void declare_values() {
    for (int i = 0; i < 1 + below(2); ++i) {
      const std::string_view shape = any_shape();
      pool_.push_back({declare("input", "x", shape), shape});
    }
    for (int i = 0; i < 1 + below(3); ++i) {
      const std::string_view shape = i == 0 && chance(70) ? "H" : any_shape();
      std::string start;
      if (chance(30)) start = fmt::format(" = {}", declare("param", "start", shape));
      if (start.empty() && chance(30)) start = " = 0.25";
      states_.push_back({declare("state", "s", shape, start), shape});
      pool_.push_back(states_.back());
    }
  }

  /// A value of this shape from the pool, or a param where there is none.
  std::string of(std::string_view shape) {
    std::vector<const TextValue*> fitting;
    for (const TextValue& value : pool_) {
      if (value.shape == shape) fitting.push_back(&value);
    }
    if (!fitting.empty() && !chance(10)) return fitting[engine_() % fitting.size()]->text;
    return declare(chance(85) ? "param" : "buffer", "p", shape);
  }

  /// The same, or one that broadcasts to it.
  std::string near(std::string_view shape) {
    switch (below(6)) {
      case 0: return fmt::format("{:.2f}", 0.1 * (1 + below(9)));
      case 1: return of("");
      case 2: return rank_of(shape) == 2 ? of(columns_of(shape)) : of(shape);
      case 3: return rank_of(shape) == 2 ? fmt::format("{}[:, None]", of(rows_of(shape))) : of(shape);
      default: return of(shape);
    }
  }

  std::string bounded(const std::string& text) {
    constexpr std::array<std::string_view, 5> kBounds = {"tanh", "sigmoid", "sin", "hard_tanh", "erf"};
    return fmt::format("{}({})", kBounds[static_cast<std::size_t>(below(5))], text);
  }

  std::string call(const ElementwiseInfo& row, std::string_view shape) {
    std::vector<std::string> arguments;
    for (int i = 0; i < row.arity; ++i) {
      std::string argument = i == 0 ? of(shape) : near(shape);
      if (needs_positive(row.spelling, i)) argument = fmt::format("(abs({}) + 0.5)", argument);
      arguments.push_back(argument);
    }
    if (row.spelling == "clamp" || row.spelling == "clip_grad") arguments = {of(shape), "-0.4", "0.6"};
    return fmt::format("{}({})", row.spelling, fmt::join(arguments, ", "));
  }

  std::string arithmetic(std::string_view shape) {
    constexpr std::array<std::string_view, 4> kOperators = {"+", "-", "*", "/"};
    const std::string_view op = kOperators[static_cast<std::size_t>(below(4))];
    const std::string right = op == "/" ? fmt::format("(abs({}) + 0.5)", near(shape)) : near(shape);
    return fmt::format("{} {} {}", of(shape), op, right);
  }

  std::string condition(std::string_view shape) {
    constexpr std::array<std::string_view, 6> kComparisons = {"<", "<=", ">", ">=", "==", "!="};
    const std::string test =
        fmt::format("{} {} {}", of(shape), kComparisons[static_cast<std::size_t>(below(6))], near(shape));
    return chance(20) ? fmt::format("not ({}) or {} > 0.5", test, of(shape)) : test;
  }

  /// A vector or a scalar from something larger along an axis.
  std::string reduction(std::string_view shape) {
    constexpr std::array<std::string_view, 6> kReductions = {"sum", "mean", "prod", "amax", "amin", "norm2"};
    const std::string_view name = kReductions[static_cast<std::size_t>(below(6))];
    if (shape.empty()) return fmt::format("{}({})", name, of(kShapes[static_cast<std::size_t>(1 + below(3))]));
    if (shape == "H")
      return chance(50) ? fmt::format("{}({}, axis=1)", name, of("H, K"))
                        : fmt::format("{}({}, axis=0)", name, of("K, H"));
    if (shape == "K")
      return chance(50) ? fmt::format("{}({}, axis=0)", name, of("H, K")) : fmt::format("{}({})", name, of("K, H"));
    return along_axis(shape);
  }

  std::string along_axis(std::string_view shape) {
    if (shape.empty()) return arithmetic(shape);
    constexpr std::array<std::string_view, 3> kAlong = {"softmax", "cumsum", "argmax_onehot"};
    const std::string axis = rank_of(shape) == 2 && chance(50) ? ", axis=0" : "";
    switch (below(5)) {
      case 0:
        return fmt::format("layer_norm({}, {}, eps=0.01)", of(shape), declare("param", "gain", columns_of(shape)));
      case 1: return fmt::format("rms_norm({}, eps=0.01)", of(shape));
      default: return fmt::format("{}({}{})", kAlong[static_cast<std::size_t>(below(3))], of(shape), axis);
    }
  }

  std::string product(std::string_view shape) {
    if (shape.empty()) return fmt::format("sum({} * {})", of("H"), of("H"));
    if (rank_of(shape) == 2) {
      if (chance(40)) return fmt::format("outer({}, {})", of(rows_of(shape)), of(columns_of(shape)));
      const std::string shared = declare("param", "M", fmt::format("{0}, {0}", rows_of(shape)));
      return fmt::format("{} @ {}", shared, of(shape));
    }
    const std::string_view inner = kShapes[static_cast<std::size_t>(1 + below(3))];
    switch (below(4)) {
      case 0: return fmt::format("{} @ {}", of(inner), declare("param", "M", fmt::format("{}, {}", inner, shape)));
      case 1: {
        const std::string matrix = declare("param", "M", fmt::format("{0}, {0}", shape));
        return fmt::format("({0} - transpose({0})) @ {1}", matrix, of(shape));
      }
      case 2:
        if (shape == "K") return fmt::format("{} @ {}", of("H"), of("H, K"));
        if (shape == "H") return fmt::format("{} @ {}", of("H, K"), of("K"));
        [[fallthrough]];
      default: return fmt::format("{} @ {}", declare("param", "M", fmt::format("{}, {}", shape, inner)), of(inner));
    }
  }

  std::string view(std::string_view shape) {
    if (shape.empty()) return fmt::format("{}[{}]", of("H"), 0);
    if (rank_of(shape) == 2) {
      if (chance(50)) return fmt::format("transpose({})", of(shape == "H, K" ? "K, H" : "H, K"));
      return fmt::format("reshape(concat({}, {}), 2, {})[1] + zeros({}, {})", of(columns_of(shape)),
                         of(columns_of(shape)), columns_of(shape), rows_of(shape), columns_of(shape));
    }
    switch (below(5)) {
      case 0: return fmt::format("concat({}, {})[{}:2*{}]", of(shape), of(shape), shape, shape);
      case 1: return fmt::format("repeat({}, 2)[0:{}]", of(shape), shape);
      case 2: return fmt::format("tile({}, 3)[{}:2*{}]", of(shape), shape, shape);
      case 3: return shape == "K" ? fmt::format("{}[0]", of("H, K")) : of(shape) + fmt::format(" * ones({})", shape);
      default: return fmt::format("eye({}) @ {}", shape, of(shape));
    }
  }

  std::string special(std::string_view shape) {
    switch (below(7)) {
      case 0: return fmt::format("dropout({}, 0.3{})", of(shape), chance(50) ? ", shared=1" : "");
      case 1: return fmt::format("zoneout({}, {}, 0.25)", of(shape), of(shape));
      case 2: return fmt::format("{} + 0.1 * sin(t)", of(shape));
      case 3: return fmt::format("where({}, {}, {})", condition(shape), of(shape), near(shape));
      case 4: return fmt::format("spike({})", own_gradient(of(shape)));
      case 5: return fmt::format("{} / sqrt(H + c)", of(shape));
      default: return fmt::format("{}^2 - 0.5", of(shape));
    }
  }

  std::string own_gradient(const std::string& argument) {
    if (file_head_.empty()) file_head_ = "fn spike(v) = v > 0.1 grad g / (1 + 10 * abs(v))^2\n\n";
    return argument;
  }

  std::string expression(std::string_view shape) {
    switch (below(9)) {
      case 0:
      case 1: return call(*functions_[engine_() % functions_.size()], shape);
      case 2: return arithmetic(shape);
      case 3: return reduction(shape);
      case 4: return along_axis(shape);
      case 5:
      case 6: return product(shape);
      case 7: return view(shape);
      default: return special(shape);
    }
  }

  void statement() {
    const std::string_view shape = any_shape();
    if (chance(8) && rank_of(shape) == 1) return split(shape);
    const std::string name = fresh("v");
    if (chance(8)) return loop(name, shape);
    // Bounded once, so that nothing grows from statement to statement.
    lines_.push_back(fmt::format("{} = {}", name, bounded(expression(shape))));
    pool_.push_back({name, shape});
  }

  void split(std::string_view shape) {
    const std::string left = fresh("v");
    const std::string right = fresh("v");
    lines_.push_back(fmt::format("{}, {} = split({}, 2)", left, right,
                                 bounded(fmt::format("concat({}, {})", of(shape), near_vector(shape)))));
    pool_.push_back({left, shape});
    pool_.push_back({right, shape});
  }

  std::string near_vector(std::string_view shape) { return fmt::format("{} * {}", of(shape), near(shape)); }

  void loop(const std::string& name, std::string_view shape) {
    const std::string other = of(shape);
    lines_.push_back(fmt::format("{} = {}", name, of(shape)));
    lines_.push_back(fmt::format("for k in 0..{} {{", chance(50) ? "K" : "2"));
    lines_.push_back(fmt::format("  {0} = tanh({0} * {1} + 0.1 * k)", name, other));
    lines_.push_back("}");
    pool_.push_back({name, shape});
  }

  void advance_states() {
    for (const TextValue& state : states_) {
      const std::string value = chance(60) ? bounded(arithmetic(state.shape)) : of(state.shape);
      const bool gated = chance(50);
      lines_.push_back(gated ? fmt::format("{0}' = 0.6 * {0} + 0.4 * ({1})", state.text, value)
                             : fmt::format("{}' = {}", state.text, value));
    }
  }

  void hand_out() {
    for (int i = 0; i < 1 + below(3); ++i) {
      const TextValue& value = pool_[engine_() % pool_.size()];
      lines_.push_back(fmt::format("output {} = {} * 1", fresh("y"), value.text));
    }
    lines_.push_back(fmt::format("output {}'", states_.front().text));
  }

  std::mt19937 engine_;
  std::vector<const ElementwiseInfo*> functions_;
  std::vector<TextValue> pool_;
  std::vector<TextValue> states_;
  std::vector<std::string> declarations_;
  std::vector<std::string> lines_;
  std::string file_head_;
  int names_ = 0;
};

}  // namespace

std::string random_cell_text(std::uint32_t seed) { return Writer(seed).write(); }

}  // namespace cellfuse::testing
