#include "tests/support/zoo.h"

#include <algorithm>
#include <filesystem>

#include "frontend/language/language.h"

namespace cellfuse::testing {

namespace {
const std::filesystem::path kZoo = std::filesystem::path(CELLFUSE_SOURCE_DIR) / "tests" / "zoo";
}  // namespace

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kZoo)) {
    if (entry.path().extension() == ".cell") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

ZooCell zoo_cell(const std::string& name) {
  ZooCell result;
  result.test = load_case((kZoo / (name + ".json")).string());
  result.cell = read_cell_file((kZoo / (name + ".cell")).string()).build({}, {result.test.dims, {}});
  return result;
}

Cell cell_from_text(const std::string& text, const DimBinding& dims) {
  return ParsedFile("text", text).build({}, {dims, {}});
}

}  // namespace cellfuse::testing
