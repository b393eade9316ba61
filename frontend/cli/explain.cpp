#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "frontend/cli/cell_arguments.h"
#include "frontend/cli/table.h"
#include "runtime/explain.h"

namespace cellfuse::cli {

namespace {

struct ExplainArguments {
  CellArguments cell;
  std::int64_t steps = 64;
  std::int64_t batch = 32;
  bool inference = false;
};

std::string plural(std::size_t n, const std::string& what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string head(const Explanation& explanation) {
  std::vector<std::string> dims;
  for (const auto& [dim, value] : explanation.interface.dims) dims.push_back(fmt::format("{} = {}", dim, value));
  return fmt::format("{}, {}, {}, for {} ({} threads, {}-bit vectors)\n", explanation.interface.cell,
                     fmt::join(dims, ", "), info(explanation.dtype).name, explanation.target.name,
                     explanation.target.threads, explanation.target.vector_bytes * 8);
}

std::string tensors(const char* kind, const std::vector<TensorInfo>& infos, const char* leading) {
  if (infos.empty()) return "";
  std::vector<std::string> names;
  for (const TensorInfo& info : infos) names.push_back(fmt::format("{}{}", info.name, info.dims));
  return fmt::format("  {:<8} {}{}\n", kind, fmt::join(names, "  "), leading);
}

/// What runs where: one line a kernel or product.
std::string stages(const ProgramSummary& program) {
  std::string text;
  std::string where;
  for (const StageInfo& stage : program.stages) {
    if (stage.where != where) {
      where = stage.where;
      text += fmt::format("  {}\n", where == "step" ? "in each step" : where);
    }
    if (stage.is_gemm) {
      text += fmt::format("    gemm    {} = {}; {}\n", stage.name, stage.what, stage.reason);
    } else {
      text += fmt::format("    kernel  {} makes {}\n", stage.name, stage.what);
    }
  }
  return text;
}

std::string counts(const ProgramSummary& program) {
  std::string text =
      fmt::format("  a step: {}, {}, {}\n", plural(static_cast<std::size_t>(program.kernels_a_step), "kernel"),
                  plural(static_cast<std::size_t>(program.gemms_a_step), "GEMM"),
                  plural(static_cast<std::size_t>(program.synchronisations_a_step), "synchronisation"));
  text += fmt::format(
      "  work of a sample and step: {} in the loop, {} outside; {} through kernels, {} of matrices read a step\n",
      count_text(program.flops_a_step, "flop"), count_text(program.flops_outside, "flop"),
      bytes_text(program.bytes_a_step), bytes_text(program.matrix_bytes_a_step));
  for (const Candidate& candidate : program.candidates) {
    const std::string model =
        candidate.feasible ? fmt::format(", {} a step by the model", time_text(candidate.seconds_per_step)) : "";
    const bool chosen = name(candidate.strategy) == program.strategy;
    text += fmt::format("  {} {}: {}{}\n", chosen ? "runs" : "could not run", name(candidate.strategy),
                        candidate.reason, model);
  }
  text += fmt::format("  floor {} a step for 16 samples, says the model; predicted {}\n",
                      time_text(program.floor_seconds_a_step), time_text(program.predicted_seconds_a_step));
  return text;
}

std::string reasons(const ProgramSummary& program) {
  std::string text;
  for (const std::string& reason : program.reasons) text += fmt::format("  - {}\n", reason);
  return text.empty() ? text : "  why\n" + text;
}

std::string saved(const Explanation& explanation) {
  if (explanation.saved.empty()) return "Forward saves nothing for backward.\n";
  std::string text = "Forward saves for backward, for each sample and step\n";
  for (const SavedValue& value : explanation.saved) {
    text += fmt::format("  {}{}, {}: {}\n", value.name, value.shape.str(), bytes_text(static_cast<double>(value.bytes)),
                        value.reason);
  }
  if (!explanation.recomputed.empty()) text += "Backward computes again\n";
  for (const RecomputedValue& value : explanation.recomputed)
    text += fmt::format("  {}: {}\n", value.name, value.reason);
  return text;
}

std::string memory(const char* what, const MemoryUse& use) {
  const auto text = [](std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  return fmt::format("  {:<10} {} in all: record {}, workspace {}, sums {}, scratch {}, masks and steps {}\n", what,
                     text(use.total()), text(use.record), text(use.workspace), text(use.accumulators),
                     text(use.scratch), text(use.flags));
}

nlohmann::json json_of(const MemoryUse& use) {
  return {{"record", use.record},   {"workspace", use.workspace}, {"accumulators", use.accumulators},
          {"scratch", use.scratch}, {"flags", use.flags},         {"total", use.total()}};
}

nlohmann::json json_of(const ProgramSummary& program) {
  nlohmann::json json = {{"kernels_a_step", program.kernels_a_step},
                         {"gemms_a_step", program.gemms_a_step},
                         {"synchronisations_a_step", program.synchronisations_a_step},
                         {"flops_a_step", program.flops_a_step},
                         {"flops_outside", program.flops_outside},
                         {"bytes_a_step", program.bytes_a_step},
                         {"matrix_bytes_a_step", program.matrix_bytes_a_step},
                         {"strategy", program.strategy},
                         {"floor_seconds_a_step", program.floor_seconds_a_step},
                         {"predicted_seconds_a_step", program.predicted_seconds_a_step},
                         {"reasons", program.reasons}};
  for (const StageInfo& stage : program.stages) {
    json["stages"].push_back({{"name", stage.name},
                              {"kind", stage.is_gemm ? "gemm" : "kernel"},
                              {"where", stage.where},
                              {"what", stage.what},
                              {"reason", stage.reason},
                              {"flops", stage.flops},
                              {"bytes", stage.bytes}});
  }
  return json;
}

std::string title(const ProgramSummary& program) {
  std::string title(name(program.kind));
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

void print_text(const ExplainArguments& arguments, const Executable& executable, const Explanation& explanation) {
  put(head(explanation));
  put(tensors("inputs", explanation.interface.inputs, "  at each step"));
  put(tensors("states", explanation.interface.states, ""));
  put(tensors("params", explanation.interface.params, ""));
  put(tensors("outputs", explanation.interface.outputs, "  at each step"));
  for (const ProgramSummary& program : explanation.programs) {
    put(fmt::format("\n{}\n", title(program)));
    put(stages(program));
    put(counts(program));
    put(reasons(program));
  }
  if (!arguments.inference) put("\n" + saved(explanation));
  put(fmt::format("\nMemory beside the caller's tensors, {} steps of {} samples\n", arguments.steps, arguments.batch));
  if (!arguments.inference) put(memory("training", executable.memory(arguments.steps, arguments.batch, true)));
  if (arguments.inference) put(memory("inference", executable.memory(arguments.steps, arguments.batch, false)));
}

void print_json(const ExplainArguments& arguments, const Executable& executable, const Explanation& explanation) {
  nlohmann::json json = {{"cell", explanation.interface.cell},
                         {"dims", explanation.interface.dims},
                         {"dtype", info(explanation.dtype).name},
                         {"target", explanation.target.name}};
  for (const ProgramSummary& program : explanation.programs)
    json["programs"][std::string(name(program.kind))] = json_of(program);
  for (const SavedValue& value : explanation.saved) {
    json["saved"].push_back(
        {{"name", value.name}, {"shape", value.shape.str()}, {"bytes", value.bytes}, {"reason", value.reason}});
  }
  for (const RecomputedValue& value : explanation.recomputed) {
    json["recomputed"].push_back({{"name", value.name}, {"reason", value.reason}});
  }
  json["memory"] = json_of(executable.memory(arguments.steps, arguments.batch, !arguments.inference));
  put(json.dump(2) + "\n");
}

void explain(ExplainArguments& arguments) {
  const CellTemplate cell = arguments.cell.load();
  CompileOptions options = arguments.cell.options(cell);
  options.inference = arguments.inference;
  options.training = !arguments.inference;
  options.generate_code = false;
  const Executable executable = compile(cell, options);
  const Explanation explanation = executable.explain();
  if (arguments.cell.json) {
    print_json(arguments, executable, explanation);
  } else {
    print_text(arguments, executable, explanation);
  }
}

}  // namespace

void add_explain(CLI::App& app, Session& /*session*/) {
  auto* command = app.add_subcommand("explain", "What the compiler does with a cell, and why");
  command->footer(
      "Hoisted, fused and saved values with the reason for each; kernels, GEMMs and synchronisations a step; "
      "arithmetic,\n"
      "bytes and memory; what the model predicts and what it says no plan can beat.\n"
      "Example:\n  cellfuse explain lstm -D I=128 -D H=256");
  auto arguments = std::make_shared<ExplainArguments>();
  arguments->cell.add_to(*command);
  command->add_flag("--inference", arguments->inference, "The inference program; without it, those of training");
  command->add_option("--batch", arguments->batch, "Samples, for the memory")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--steps", arguments->steps, "Steps, for the memory")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->callback([arguments] { explain(*arguments); });
}

}  // namespace cellfuse::cli
