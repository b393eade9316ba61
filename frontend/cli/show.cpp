#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "frontend/cli/cell_arguments.h"

namespace cellfuse::cli {

namespace {

struct ShowArguments {
  CellArguments cell;
  std::string stage = "cell";
  bool train = false;
  bool backward = false;
};

std::vector<ProgramKind> shown_programs(const ShowArguments& arguments) {
  if (arguments.backward) return {ProgramKind::Backward};
  if (arguments.train) return {ProgramKind::Forward, ProgramKind::Backward};
  return {ProgramKind::Inference};
}

void show(ShowArguments& arguments) {
  const CellTemplate cell = arguments.cell.load();
  CompileOptions options = arguments.cell.options(cell);
  options.training = arguments.train || arguments.backward;
  options.inference = !options.training;
  options.generate_code = arguments.cell.time_passes;
  const Executable executable = compile(cell, options);
  const Picture picture = *picture_from_name(arguments.stage);
  nlohmann::json json;
  bool first = true;
  for (const ProgramKind kind : shown_programs(arguments)) {
    const std::string text = executable.text(kind, picture);
    if (arguments.cell.json) {
      json[std::string(name(kind))] = text;
      continue;
    }
    if (!first) put("\n");
    first = false;
    put(text);
  }
  if (arguments.cell.json) put(json.dump(2) + "\n");
  if (arguments.cell.time_passes) fmt::print(stderr, "{}", executable.compile_times());
}

}  // namespace

void add_show(CLI::App& app, Session& /*session*/) {
  auto* command = app.add_subcommand("show", "What the compiler makes of a cell, at any stage");
  command->footer(
      "Examples:\n"
      "  cellfuse show lstm -D I=2 -D H=4 --stage sequence          before, in and after the loop\n"
      "  cellfuse show my.cell -D H=64 --stage plan --train         kernels and GEMMs, forward and backward\n"
      "  cellfuse show my.cell -D H=64 --stage asm\n"
      "  cellfuse show lstm -D I=2 -D H=4 --stage plan --print-after=all --time-passes");
  auto arguments = std::make_shared<ShowArguments>();
  arguments->cell.add_to(*command);
  command->add_option("--stage", arguments->stage, "cell, sequence, plan, llvm or asm")
      ->check(CLI::IsMember({"cell", "sequence", "plan", "llvm", "asm"}))
      ->capture_default_str();
  command->add_flag("--train", arguments->train, "The programs of training, forward and backward");
  command->add_flag("--backward", arguments->backward, "The backward program alone");
  command->callback([arguments] { show(*arguments); });
}

}  // namespace cellfuse::cli
