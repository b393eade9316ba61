#include <fmt/format.h>

#include <array>

#include "ir/diagnostic.h"
#include "runtime/executable_impl.h"

namespace cellfuse {

namespace {

constexpr std::array<std::string_view, 3> kKinds = {"inference", "forward", "backward"};
constexpr std::array<std::string_view, 5> kPictures = {"cell", "sequence", "plan", "llvm", "asm"};

}  // namespace

std::string_view name(ProgramKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view name(Picture picture) { return kPictures[static_cast<std::size_t>(picture)]; }

std::optional<Picture> picture_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kPictures.size(); ++i) {
    if (kPictures[i] == name) return static_cast<Picture>(i);
  }
  return std::nullopt;
}

std::string Executable::text(ProgramKind kind, Picture picture) const {
  const auto compilation = impl().only();
  const LoweredProgram& program = compilation->program(kind);
  switch (picture) {
    case Picture::Cell: return print(program.cell);
    case Picture::Sequence: return print(program.sequence);
    case Picture::Plan: return print(program.plan);
    case Picture::Llvm:
    case Picture::Asm: return code_text(program.plan, picture);
  }
  throw InternalError("text", "unknown picture");
}

std::string Executable::compile_times() const {
  std::string text;
  double total = 0;
  for (const PassTime& time : impl().only()->times()) {
    text += fmt::format("{:<10} {:<24} {:9.3f} ms\n", time.program, time.pass, time.seconds * 1e3);
    total += time.seconds;
  }
  return text + fmt::format("{:<10} {:<24} {:9.3f} ms\n", "total", "", total * 1e3);
}

}  // namespace cellfuse
