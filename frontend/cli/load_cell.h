#pragma once

#include <string>

#include "frontend/language/language.h"
#include "runtime/compile.h"

namespace cellfuse::cli {

/// What the argument FILE[:CELL] names: a text, and the cell of it that is meant; empty where none is named.
struct NamedText {
  ParsedFile file;
  std::string cell;
};

/// Reads a file, stdin (`-`) or a built-in cell. Throws CompileError when there is none.
NamedText read_text(const std::string& argument);

}  // namespace cellfuse::cli
