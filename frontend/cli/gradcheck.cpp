#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "frontend/cli/cell_arguments.h"
#include "frontend/cli/table.h"
#include "frontend/cli/tensors.h"

namespace cellfuse::cli {

namespace {

struct GradcheckArguments {
  CellArguments cell;
  std::int64_t steps = 4;
  std::int64_t batch = 2;
  std::uint64_t seed = 1;
  std::int64_t samples = 40;
  double tolerance = 1e-6;
  bool masks = false;
  bool reverse = false;
  bool learned_start = false;
};

/// What the check of one tensor found.
struct Finding {
  std::string name;
  std::int64_t checked = 0;
  std::int64_t elements = 0;
  double error = 0;  ///< largest scaled error
};

/// A random linear loss of outputs and final states, and its gradients by two ways.
class Check {
 public:
  explicit Check(const GradcheckArguments& arguments, const Executable& executable)
      : arguments_(arguments),
        executable_(executable),
        interface_(executable.interface()),
        tensors_(executable, arguments.steps, arguments.batch),
        engine_(arguments.seed) {
    fill_random(tensors_, arguments.seed);
    if (arguments.learned_start) {
      for (Tensor& tensor : tensors_.initial) tensor = Tensor();
    }
    sequence_.seed = arguments.seed;
    sequence_.reverse = arguments.reverse;
    if (arguments.masks) make_masks();
  }

  std::vector<Finding> run() {
    Record record = executable_.forward_training(tensors_.forward(interface_, sequence_));
    executable_.backward(std::move(record), tensors_.backward(interface_));
    compare("param", interface_.params, tensors_.params, tensors_.param_grads);
    compare("input", interface_.inputs, tensors_.inputs, tensors_.input_grads);
    compare("initial", interface_.states, tensors_.initial, tensors_.initial_grads);
    return std::move(findings_);
  }

 private:
  void make_masks() {
    const auto places = static_cast<std::size_t>(arguments_.steps * arguments_.batch);
    for (std::size_t i = 0; i < places; ++i) {
      live_.push_back(engine_() % 4 != 0 ? 1 : 0);
      reset_.push_back(engine_() % 4 == 0 ? 1 : 0);
    }
    sequence_.mask = {live_.data(), {arguments_.steps, arguments_.batch}};
    sequence_.reset = {reset_.data(), {arguments_.steps, arguments_.batch}};
  }

  double loss() {
    static_cast<void>(executable_.forward_training(tensors_.forward(interface_, sequence_)));
    return dot(tensors_.outputs, tensors_.output_grads) + dot(tensors_.finals, tensors_.final_grads);
  }

  static double dot(const std::vector<Tensor>& values, const std::vector<Tensor>& weights) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto v = values[i].as<double>();
      const auto w = weights[i].as<double>();
      for (std::size_t k = 0; k < v.size(); ++k) sum += v[k] * w[k];
    }
    return sum;
  }

  void compare(const char* kind, const std::vector<TensorInfo>& infos, std::vector<Tensor>& values,
               const std::vector<Tensor>& gradients) {
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (values[i].data() == nullptr || gradients[i].data() == nullptr) continue;
      findings_.push_back(compare_one(fmt::format("{} {}", kind, infos[i].name), values[i], gradients[i]));
    }
  }

  Finding compare_one(const std::string& name, Tensor& values, const Tensor& gradient) {
    Finding finding{name, 0, values.count(), 0};
    for (const std::size_t element : chosen_elements(values.count())) {
      const double difference = central_difference(values.as<double>()[element]);
      const double error = std::fabs(gradient.as<double>()[element] - difference) / (1 + std::fabs(difference));
      finding.error = std::isnan(error) ? HUGE_VAL : std::max(finding.error, error);
      ++finding.checked;
    }
    return finding;
  }

  /// All of a small tensor, a random choice of a large one.
  std::vector<std::size_t> chosen_elements(std::int64_t count) {
    std::vector<std::size_t> elements;
    for (std::int64_t i = 0; i < std::min(count, arguments_.samples); ++i) {
      const bool all = count <= arguments_.samples;
      elements.push_back(all ? static_cast<std::size_t>(i) : engine_() % static_cast<std::uint64_t>(count));
    }
    return elements;
  }

  /// Of the fourth order: (8 (f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))) / 12h.
  double central_difference(double& value) {
    const double original = value;
    const double step = 1e-4 * std::max(1.0, std::fabs(original));
    const auto at = [&](double offset) {
      value = original + offset;
      return loss();
    };
    const double near = at(step) - at(-step);
    const double far = at(2 * step) - at(-2 * step);
    value = original;
    return (8 * near - far) / (12 * step);
  }

  const GradcheckArguments& arguments_;
  const Executable& executable_;
  const Interface& interface_;
  CallTensors tensors_;
  std::mt19937_64 engine_;
  SequenceArguments sequence_;
  std::vector<std::uint8_t> live_;
  std::vector<std::uint8_t> reset_;
  std::vector<Finding> findings_;
};

/// Operations whose derivative the language or the user defines, so that differences do not show it.
std::vector<std::string> own_gradients(const Cell& cell) {
  std::vector<std::string> names;
  const std::vector<bool> live = reachable(cell.graph, cell.roots());
  for (NodeId id = 0; id < cell.graph.size(); ++id) {
    const Op op = cell.graph[id].op;
    const bool own = op == Op::WithGrad || op == Op::Step || op == Op::Detach || op == Op::ClipGrad;
    if (!live[id] || !own) continue;
    const std::string shown = op == Op::WithGrad ? "fn … grad" : std::string(name(op));
    if (std::find(names.begin(), names.end(), shown) == names.end()) names.push_back(shown);
  }
  return names;
}

void report(const GradcheckArguments& arguments, const std::vector<Finding>& findings, bool good, const Cell& cell) {
  if (arguments.cell.json) {
    nlohmann::json json = {{"cell", cell.name}, {"tolerance", arguments.tolerance}, {"good", good}};
    for (const Finding& finding : findings) {
      json["gradients"][finding.name] = {
          {"checked", finding.checked}, {"elements", finding.elements}, {"error", finding.error}};
    }
    put(json.dump(2) + "\n");
    return;
  }
  Table table;
  table.add({"gradient of", "elements", "checked", "largest scaled error"});
  for (const Finding& finding : findings) {
    table.add({finding.name, std::to_string(finding.elements), std::to_string(finding.checked),
               fmt::format("{:.1e}", finding.error)});
  }
  put(table.str());
  put(fmt::format("{}: {} within {:.0e} of central differences\n", cell.name, good ? "good," : "WRONG, not",
                  arguments.tolerance));
  const std::vector<std::string> own = own_gradients(cell);
  if (good || own.empty()) return;
  std::string list;
  for (const std::string& op : own) list += (list.empty() ? "" : ", ") + op;
  put(fmt::format("note: the cell has gradients of its own ({}), which differences do not show\n", list));
}

int gradcheck(GradcheckArguments& arguments) {
  const CellTemplate source = arguments.cell.load();
  CompileOptions options = arguments.cell.options(source);
  options.inference = false;
  const Executable executable = compile(source, options);
  const std::vector<Finding> findings = Check(arguments, executable).run();
  const bool good =
      std::all_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.error <= arguments.tolerance; });
  report(arguments, findings, good, source.build(options.dims, options.constants));
  return good ? kGood : kFailed;
}

}  // namespace

void add_gradcheck(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("gradcheck", "Compare the compiled gradients with finite differences, in float64");
  command->footer(
      "Examples:\n"
      "  cellfuse gradcheck my.cell -D I=3 -D H=4\n"
      "  cellfuse gradcheck lstm -D I=3 -D H=4 --steps 6 --masks --reverse");
  auto arguments = std::make_shared<GradcheckArguments>();
  arguments->cell.dtype = "float64";
  arguments->cell.add_to(*command, false);
  command->add_option("--steps", arguments->steps, "Steps")->check(CLI::Range(0, 10000))->capture_default_str();
  command->add_option("--batch", arguments->batch, "Samples")->check(CLI::Range(0, 10000))->capture_default_str();
  command->add_option("--seed", arguments->seed, "Of the random numbers")->capture_default_str();
  command->add_option("--samples", arguments->samples, "Elements checked of each tensor")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--tolerance", arguments->tolerance, "Largest scaled error allowed")->capture_default_str();
  command->add_flag("--masks", arguments->masks, "With random masks and resets");
  command->add_flag("--reverse", arguments->reverse, "In the reverse direction");
  command->add_flag("--learned-start", arguments->learned_start,
                    "Without initial states: states start as the cell says");
  command->callback([arguments, &session] { session.exit_code = gradcheck(*arguments); });
}

}  // namespace cellfuse::cli
