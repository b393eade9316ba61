#pragma once

#include <memory>

#include "frontend/language/ast.h"
#include "frontend/language/reporter.h"

namespace cellfuse {

/// Largest text that is read, in bytes.
inline constexpr std::size_t kMaxSourceBytes = std::size_t{1} << 20U;

/// Most cells, and most functions, of one text.
inline constexpr std::size_t kMaxDefinitions = 500;

/// Reads a text. Mistakes are reported; what could be read around them is returned.
ast::File parse(const std::shared_ptr<const Source>& source, Reporter& reporter);

}  // namespace cellfuse
