#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "frontend/cli/case.h"
#include "frontend/cli/cell_arguments.h"
#include "frontend/cli/table.h"
#include "frontend/cli/tensors.h"
#include "ir/diagnostic.h"

namespace cellfuse::cli {

namespace {

struct VerifyArguments {
  CellArguments cell;
  std::string file;
  std::optional<double> tolerance;
};

/// Largest scaled errors of one variant, by `output h`, `gradient of param W` …, in the order of the cell.
struct VariantErrors {
  std::string name;
  std::vector<std::pair<std::string, double>> results;
  std::vector<std::pair<std::string, double>> gradients;
};

void assign(std::vector<Tensor>& tensors, const std::vector<TensorInfo>& infos, const NamedValues& values,
            const char* kind) {
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const auto found = values.find(infos[i].name);
    if (found == values.end() || !found->second)
      throw UsageError(fmt::format("the case has no {} `{}`", kind, infos[i].name));
    tensors[i].assign(*found->second);
  }
}

void compare(std::vector<std::pair<std::string, double>>& errors, const char* kind,
             const std::vector<TensorInfo>& infos, const std::vector<Tensor>& got, const NamedValues& want) {
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const auto found = want.find(infos[i].name);
    if (found == want.end() || !found->second || got[i].data() == nullptr) continue;
    errors.emplace_back(fmt::format("{} {}", kind, infos[i].name), scaled_error(got[i].to_doubles(), *found->second));
  }
}

VariantErrors run_variant(const Executable& executable, const Case& test, const CaseVariant& variant) {
  const Interface& interface = executable.interface();
  CallTensors tensors(executable, test.steps, test.batch);
  assign(tensors.inputs, interface.inputs, test.inputs, "input");
  assign(tensors.params, interface.params, test.params, "param");
  for (std::size_t i = 0; i < interface.states.size(); ++i) {
    const auto found = variant.initial.find(interface.states[i].name);
    const bool given = found != variant.initial.end() && found->second;
    if (given) tensors.initial[i].assign(*found->second);
    if (!given) tensors.initial[i] = Tensor();
    tensors.final_grads[i] = Tensor();
  }
  for (std::size_t i = 0; i < interface.outputs.size(); ++i) {
    const std::int64_t rows = std::max<std::int64_t>(test.steps * test.batch, 1);
    tensors.output_grads[i].assign(loss_weights(i, test.steps, test.batch, tensors.output_grads[i].count() / rows));
  }
  SequenceArguments sequence;
  sequence.lengths = variant.lengths;
  sequence.reverse = variant.reverse;
  if (!variant.reset.empty()) sequence.reset = {variant.reset.data(), {test.steps, test.batch}};
  Record record = executable.forward_training(tensors.forward(interface, sequence));
  executable.backward(std::move(record), tensors.backward(interface));

  VariantErrors errors{variant.name, {}, {}};
  compare(errors.results, "output", interface.outputs, tensors.outputs, variant.outputs);
  compare(errors.results, "final", interface.states, tensors.finals, variant.final);
  // Inference is another program; its results must be the same.
  for (auto* list : {&tensors.outputs, &tensors.finals}) {
    for (Tensor& tensor : *list) tensor.fill(std::nan(""));
  }
  executable.forward(tensors.forward(interface, sequence));
  compare(errors.results, "inference output", interface.outputs, tensors.outputs, variant.outputs);
  compare(errors.gradients, "grad param", interface.params, tensors.param_grads, variant.param_grads);
  compare(errors.gradients, "grad input", interface.inputs, tensors.input_grads, variant.input_grads);
  compare(errors.gradients, "grad initial", interface.states, tensors.initial_grads, variant.initial_grads);
  return errors;
}

double largest(const std::vector<std::pair<std::string, double>>& errors) {
  double largest = 0;
  for (const auto& [what, error] : errors) largest = std::isnan(error) ? HUGE_VAL : std::max(largest, error);
  return largest;
}

/// One row a tensor, one column a variant.
std::string table_of(const std::vector<VariantErrors>& variants) {
  Table table;
  std::vector<std::string> head{"largest scaled error"};
  for (const VariantErrors& variant : variants) head.push_back(variant.name);
  table.add(head);
  std::vector<std::string> names;
  for (const auto member : {&VariantErrors::results, &VariantErrors::gradients}) {
    for (const VariantErrors& variant : variants) {
      for (const auto& [name, error] : variant.*member) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
  }
  for (const std::string& name : names) {
    std::vector<std::string> row{name};
    for (const VariantErrors& variant : variants) {
      std::string cell = "-";
      for (const auto* list : {&variant.results, &variant.gradients}) {
        for (const auto& [other, error] : *list) {
          if (other == name) cell = fmt::format("{:.1e}", error);
        }
      }
      row.push_back(cell);
    }
    table.add(row);
  }
  return table.str();
}

nlohmann::json json_of(const std::vector<VariantErrors>& variants) {
  nlohmann::json json;
  for (const VariantErrors& variant : variants) {
    for (const auto* list : {&variant.results, &variant.gradients}) {
      for (const auto& [name, error] : *list) json[variant.name][name] = error;
    }
  }
  return json;
}

int verify(VerifyArguments& arguments) {
  const Case test = load_case(arguments.file);
  for (const auto& [dim, value] : test.dims) arguments.cell.bindings.push_back(fmt::format("{}={}", dim, value));
  const CellTemplate cell = arguments.cell.load();
  const CompileOptions options = arguments.cell.options(cell);
  const Executable executable = compile(cell, options);
  std::vector<VariantErrors> variants;
  for (const CaseVariant& variant : test.variants) variants.push_back(run_variant(executable, test, variant));

  const DTypeInfo& row = info(options.dtype);
  const double result_tolerance = arguments.tolerance.value_or(row.forward_tolerance);
  const double gradient_tolerance = arguments.tolerance.value_or(row.gradient_tolerance);
  double result_error = 0;
  double gradient_error = 0;
  for (const VariantErrors& variant : variants) {
    result_error = std::max(result_error, largest(variant.results));
    gradient_error = std::max(gradient_error, largest(variant.gradients));
  }
  const bool good = result_error <= result_tolerance && gradient_error <= gradient_tolerance;
  if (arguments.cell.json) {
    const nlohmann::json json = {{"cell", cell.name},
                                 {"dtype", row.name},
                                 {"device", options.device},
                                 {"errors", json_of(variants)},
                                 {"largest", {{"results", result_error}, {"gradients", gradient_error}}},
                                 {"tolerance", {{"results", result_tolerance}, {"gradients", gradient_tolerance}}},
                                 {"good", good}};
    put(json.dump(2) + "\n");
  } else {
    put(table_of(variants));
    put(fmt::format("{} {} on {}: {}; results {:.1e} (tolerance {:.0e}), gradients {:.1e} (tolerance {:.0e})\n",
                    cell.name, row.name, options.device, good ? "good" : "WRONG", result_error, result_tolerance,
                    gradient_error, gradient_tolerance));
  }
  return good ? kGood : kFailed;
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("verify", "Run a case with known numbers and compare");
  command->footer(
      "The case holds dimensions, inputs, params and the expected outputs, final states and gradients, for a plain "
      "run\n"
      "and for variants (lengths, reverse, reset); tests/zoo/README.md describes the format.\n"
      "Example:\n  cellfuse verify tests/zoo/lstm.cell tests/zoo/lstm.json --dtype float64");
  auto arguments = std::make_shared<VerifyArguments>();
  arguments->cell.dtype = "float64";
  arguments->cell.add_to(*command);
  command->add_option("case", arguments->file, "CASE.json")->required();
  command->add_option("--tolerance", arguments->tolerance, "Largest scaled error allowed (default: by dtype)");
  command->callback([arguments, &session] { session.exit_code = verify(*arguments); });
}

}  // namespace cellfuse::cli
