#pragma once

/// All that a program needs: cells from text, files, the library's own or equations in C++; compile() and what it
/// returns.

#include <string>
#include <utility>

#include "frontend/builder/cell_builder.h"
#include "frontend/cells/cells.h"
#include "frontend/language/language.h"
#include "runtime/compile.h"
#include "runtime/explain.h"

namespace cellfuse {

/// A cell of a text, ready for compile(). An empty name means the only cell of the text. Throws CompileError with
/// everything that is wrong with it.
CellTemplate cell_of(const ParsedFile& file, const std::string& cell = {});

/// A cell made of equations in C++.
inline CellTemplate cell_of(const build::CellBuilder& builder) { return cell_of(builder.file()); }

/// The same for a file.
CellTemplate cell_from_file(const std::string& path, const std::string& cell = {});
/// The same for a text; `name` is shown in front of messages.
CellTemplate cell_from_text(std::string text, std::string name = "text", const std::string& cell = {});
/// A cell of the library: `lstm`. Throws CompileError for an unknown name.
CellTemplate builtin_cell(const std::string& name);

}  // namespace cellfuse
