#include "frontend/cli/load_cell.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "frontend/cells/cells.h"
#include "frontend/language/parser.h"
#include "frontend/language/reporter.h"
#include "ir/diagnostic.h"

namespace cellfuse::cli {

namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

ParsedFile read_stdin() {
  std::string text(kMaxSourceBytes + 1, '\0');  // one more than is read, to tell that it is too much
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  return {"<stdin>", std::move(text)};
}

ParsedFile read_one(const std::string& name) {
  if (name == "-") return read_stdin();
  if (exists(name)) return read_cell_file(name);
  if (const BuiltinCell* cell = find_builtin_cell(name)) return {name + ".cell", std::string(cell->text)};
  std::vector<std::string> names;
  for (const BuiltinCell& cell : builtin_cells()) names.emplace_back(cell.name);
  const std::string guess = did_you_mean(name, names);
  throw CompileError(fmt::format("there is no file and no built-in cell `{}`", name),
                     guess.empty() ? "`cellfuse list` shows the built-in cells" : guess);
}

}  // namespace

NamedText read_text(const std::string& argument) {
  const std::size_t colon = argument.rfind(':');
  if (exists(argument) || colon == std::string::npos) return {read_one(argument), ""};
  return {read_one(argument.substr(0, colon)), argument.substr(colon + 1)};
}

}  // namespace cellfuse::cli
