// Writes the kernels of all emulated programs as C++: generate FOLDER COUNT makes FOLDER/kernels_0.cpp and so on.
// A file that would not change is left alone.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/emulation/programs.h"

using namespace cellfuse;
using namespace cellfuse::emulation;

namespace {

void collect(const std::vector<cuda::Action>& actions, std::vector<std::string>& kernels) {
  for (const cuda::Action& action : actions) {
    if (const auto* launch = std::get_if<cuda::Launch>(&action)) kernels.push_back(launch->kernel);
    if (const auto* loop = std::get_if<cuda::LoopRun>(&action)) collect(loop->body, kernels);
  }
}

std::string translate(const cuda::CudaSource& source) {
  std::string text = "namespace gpu {\n" + source.kernels + "\nnamespace {\nconst bool " + source.name +
                     "_added = [] {\n" + "  auto& table = cellfuse::emulation::KernelTable::instance();\n";
  std::vector<std::string> kernels;
  for (const auto* actions : {&source.once, &source.begin, &source.chunk, &source.end, &source.finish}) {
    collect(*actions, kernels);
  }
  for (const std::string& kernel : kernels) {
    text += fmt::format(
        "  table.add(\"{0}\", [](const void* call, int iteration) {{ {1}::{0}(static_cast<const {1}::Call*>(call), "
        "iteration); }});\n",
        kernel, source.name);
  }
  return text + "  return true;\n}();\n}  // namespace\n}  // namespace gpu\n";
}

void write_if_changed(const std::string& path, const std::string& text) {
  std::ifstream old(path, std::ios::binary);
  if (old && std::string(std::istreambuf_iterator<char>(old), {}) == text) return;
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto count = static_cast<std::size_t>(std::stoi(argv[2]));
  const std::string head =
      "#include \"tests/emulation/machine.h\"\n\nnamespace gpu {\n" + cuda::prelude(false) + "}\n\n";
  std::vector<std::string> files(count, head);
  try {
    std::size_t next = 0;
    for (const CellChoice& choice : emulated_cells()) {
      const EmittedCell cell = emit_cell(choice);
      std::string& file = files[next++ % count];
      file += translate(cell.forward.source) + translate(cell.backward.source);
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  for (std::size_t i = 0; i < count; ++i) write_if_changed(fmt::format("{}/kernels_{}.cpp", argv[1], i), files[i]);
  return 0;
}
