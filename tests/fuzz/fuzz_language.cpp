#include <cstddef>
#include <cstdint>
#include <string>

#include "frontend/language/language.h"
#include "ir/cell.h"

using namespace cellfuse;

/// Any bytes: read, checked, and every cell built with small dimensions. A mistake gives diagnostics; anything else
/// that is thrown is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ParsedFile file("fuzz.cell", std::string(data, data + size));
  (void)render(file.check());
  for (const std::string& name : file.cell_names()) {
    Binding binding;
    std::int64_t next = 1;
    for (const CellInfo::Dimension& dim : file.info(name).dims) {
      if (!dim.default_value) binding.dims[dim.name] = next = next % 4 + 1;
    }
    try {
      const Cell cell = file.build(name, binding);
      verify(cell);
      (void)print(cell);
    } catch (const CompileError&) {
    }
  }
  return 0;
}
