#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "frontend/cells/cells.h"
#include "frontend/cli/session.h"

namespace cellfuse::cli {

namespace {

/// The first comment of a cell: what it is.
std::string summary(std::string_view text) {
  const std::size_t begin = text.find_first_not_of("# ");
  return std::string(text.substr(begin, text.find('\n') - begin));
}

void list(bool json, bool texts) {
  nlohmann::json rows = nlohmann::json::array();
  for (const BuiltinCell& cell : builtin_cells()) {
    if (json) {
      rows.push_back({{"name", cell.name}, {"summary", summary(cell.text)}, {"text", cell.text}});
    } else {
      put(texts ? fmt::format("{}\n", cell.text) : fmt::format("{:<20} {}\n", cell.name, summary(cell.text)));
    }
  }
  if (json) put(rows.dump(2) + "\n");
}

}  // namespace

void add_list(CLI::App& app, Session& /*session*/) {
  auto* command = app.add_subcommand("list", "The built-in cells");
  auto json = std::make_shared<bool>(false);
  auto texts = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Write JSON, texts included");
  command->add_flag("--text", *texts, "Print the cells themselves");
  command->callback([json, texts] { list(*json, *texts); });
}

void add_version(CLI::App& app, Session& /*session*/) {
  app.add_subcommand("version", "The version of cellfuse")->callback([] { put("cellfuse " CELLFUSE_VERSION "\n"); });
}

}  // namespace cellfuse::cli
