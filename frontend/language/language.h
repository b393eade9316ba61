#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/language/ast.h"
#include "frontend/language/binding.h"
#include "ir/cell.h"
#include "ir/diagnostic.h"
#include "ir/dim.h"

namespace cellfuse {

/// What is known of a cell before its dimensions are.
struct CellInfo {
  struct Dimension {
    std::string name;
    std::optional<std::int64_t> default_value;
  };
  struct Constant {
    std::string name;
    double default_value = 0;
  };
  /// An input, param, buffer or state with the size of each axis.
  struct Declared {
    std::string name;
    std::vector<Dim> shape;
  };
  std::string name;
  std::vector<Dimension> dims;
  std::vector<Constant> constants;
  std::vector<Declared> inputs;
  std::vector<Declared> params;  ///< buffers too
  std::vector<Declared> states;
};

/// A `.cell` text, read. Cheap to copy; safe to use from several threads.
class ParsedFile {
 public:
  /// Reads a text; `name` is shown in front of messages. Never throws for a mistake in the text: `check` and `build`
  /// report it.
  ParsedFile(std::string name, std::string text);
  /// A tree that was made by other means (the C++ builder), with what was wrong about it.
  ParsedFile(ast::File file, std::vector<Diagnostic> diagnostics);

  /// Names of the cells, in the order of the text.
  std::vector<std::string> cell_names() const;

  /// Every mistake and warning of the whole text, dimensions unbound.
  std::vector<Diagnostic> check() const;
  /// The same for one cell and the given dimensions; the others stay unbound. Throws CompileError for an unknown name.
  std::vector<Diagnostic> check(const std::string& cell, const Binding& binding) const;

  /// Throws CompileError when there is no such cell, or the text is too broken to tell. An empty name means the only
  /// cell of the text.
  CellInfo info(const std::string& cell = {}) const;

  /// Reads `H=512` and `eps=1e-3` for the dimensions and constants of a cell. Throws CompileError for an unknown name
  /// or a value that does not fit.
  Binding read_binding(const std::string& cell, const std::vector<std::string>& assignments) const;

  /// The cell for these values; what is not given takes its default. Throws CompileError with everything that is
  /// wrong; warnings are added to `warnings` when it is not null.
  Cell build(const std::string& cell, const Binding& binding, std::vector<Diagnostic>* warnings = nullptr) const;

 private:
  struct Content;
  const ast::Cell& find(const std::string& cell) const;

  std::shared_ptr<const Content> content_;
};

/// Reads the file at `path`. Throws CompileError when it cannot be read.
ParsedFile read_cell_file(const std::string& path);

}  // namespace cellfuse
