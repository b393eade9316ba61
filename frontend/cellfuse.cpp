#include "frontend/cellfuse.h"

#include <algorithm>
#include <vector>

#include "frontend/language/reporter.h"
#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

std::vector<CellTemplate::Declared> declared(const std::vector<CellInfo::Declared>& from) {
  std::vector<CellTemplate::Declared> result;
  for (const CellInfo::Declared& one : from) result.push_back({one.name, one.shape});
  return result;
}

}  // namespace

CellTemplate cell_of(const ParsedFile& file, const std::string& cell) {
  std::vector<Diagnostic> diagnostics = file.check(cell, {});
  std::erase_if(diagnostics, [](const Diagnostic& d) { return d.severity != Severity::Error; });
  if (!diagnostics.empty()) throw CompileError(std::move(diagnostics));
  const CellInfo info = file.info(cell);
  CellTemplate result;
  result.name = info.name;
  for (const CellInfo::Dimension& dim : info.dims) {
    result.dims.push_back(dim.name);
    if (dim.default_value) result.default_dims[dim.name] = *dim.default_value;
  }
  for (const CellInfo::Constant& constant : info.constants) result.constants.push_back(constant.name);
  result.inputs = declared(info.inputs);
  result.params = declared(info.params);
  result.states = declared(info.states);
  result.build = [file, name = info.name](const DimBinding& dims, const ConstantBinding& constants) {
    return file.build(name, {dims, constants});
  };
  return result;
}

CellTemplate cell_from_file(const std::string& path, const std::string& cell) {
  return cell_of(read_cell_file(path), cell);
}

CellTemplate cell_from_text(std::string text, std::string name, const std::string& cell) {
  return cell_of(ParsedFile(std::move(name), std::move(text)), cell);
}

CellTemplate builtin_cell(const std::string& name) {
  if (const BuiltinCell* cell = find_builtin_cell(name)) {
    return cell_from_text(std::string(cell->text), name + ".cell");
  }
  std::vector<std::string> names;
  for (const BuiltinCell& cell : builtin_cells()) names.emplace_back(cell.name);
  throw CompileError("there is no built-in cell `" + name + "`", did_you_mean(name, names));
}

}  // namespace cellfuse
