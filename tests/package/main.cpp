// A program outside the source tree, built against the installed package: sums three numbers with a recurrent cell.
#include <cellfuse/cellfuse.h>

#include <array>
#include <cstdio>

int main() {
  const auto cell = cellfuse::cell_from_text("cell sum() { input x\n state s\n s' = s + x\n output s' }");
  const cellfuse::Executable executable = cellfuse::compile(cell);

  const std::array<float, 3> x = {1, 2, 4};
  float total = 0;
  cellfuse::ForwardCall call;
  call.inputs = {{"x", {x.data(), {3, 1}}}};
  call.finals = {{"s", {&total, {1}}}};
  executable.forward(call);
  std::printf("1 + 2 + 4 = %g\n", static_cast<double>(total));
  return total == 7 && cellfuse::find_builtin_cell("lstm") != nullptr ? 0 : 1;
}
