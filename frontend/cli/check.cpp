#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "frontend/cli/load_cell.h"
#include "frontend/cli/session.h"
#include "ir/diagnostic.h"

namespace cellfuse::cli {

namespace {

struct CheckArguments {
  std::vector<std::string> files;
  std::vector<std::string> bindings;
  bool json = false;
};

std::vector<Diagnostic> check_one(const std::string& argument, const std::vector<std::string>& bindings) {
  const NamedText text = read_text(argument);
  if (text.cell.empty() && bindings.empty()) return text.file.check();
  const Binding binding = text.file.read_binding(text.cell, bindings);
  return text.file.check(text.cell, binding);
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::Note: return "note";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
  }
  return "error";
}

nlohmann::json json_of(const Diagnostic& diagnostic) {
  nlohmann::json json = {{"severity", severity_name(diagnostic.severity)}, {"message", diagnostic.message}};
  if (!diagnostic.hint.empty()) json["hint"] = diagnostic.hint;
  if (diagnostic.span) {
    const auto begin = diagnostic.span.source->position(diagnostic.span.begin);
    const auto end = diagnostic.span.source->position(diagnostic.span.end);
    json["file"] = diagnostic.span.source->name();
    json["begin"] = {{"line", begin.line}, {"column", begin.column}};
    json["end"] = {{"line", end.line}, {"column", end.column}};
  }
  for (const Diagnostic& note : diagnostic.notes) json["notes"].push_back(json_of(note));
  return json;
}

int check(const CheckArguments& arguments, const Session& session) {
  std::vector<Diagnostic> all;
  for (const std::string& file : arguments.files) {
    std::vector<Diagnostic> found;
    try {
      found = check_one(file, arguments.bindings);
    } catch (const CompileError& error) {
      found = error.diagnostics();
    }
    all.insert(all.end(), found.begin(), found.end());
  }
  const auto errors =
      std::count_if(all.begin(), all.end(), [](const Diagnostic& d) { return d.severity == Severity::Error; });
  if (arguments.json) {
    nlohmann::json json = nlohmann::json::array();
    for (const Diagnostic& diagnostic : all) json.push_back(json_of(diagnostic));
    put(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    fmt::print(stderr, "{}", render(all, session.color_on_stderr()));
  }
  return errors == 0 ? kGood : kFailed;
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("check", "Check cells and say what is wrong with them");
  command->footer(
      "Without -D, shapes are checked for all values of the dimensions at once.\n"
      "Examples:\n"
      "  cellfuse check *.cell\n"
      "  cellfuse check my.cell -D H=30 -D heads=4");
  auto arguments = std::make_shared<CheckArguments>();
  command->add_option("files", arguments->files, "FILE, FILE:CELL, a built-in cell, or - for stdin")->required();
  command->add_option("-D,--define", arguments->bindings, "A dimension or constant: -D H=512 (repeat for more)")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "Write the diagnostics as JSON, to stdout");
  command->callback([arguments, &session] { session.exit_code = check(*arguments, session); });
}

}  // namespace cellfuse::cli
