#include "codegen/cuda/table_code.h"

#include <fmt/format.h>

namespace cellfuse::cuda {

std::string describe(const Buffer& buffer) {
  std::vector<std::string> axes;
  if (buffer.time) axes.emplace_back("time");
  if (buffer.batch) axes.emplace_back("batch");
  for (int axis = 0; axis < buffer.shape.rank(); ++axis) {
    const Extent& extent = buffer.shape[axis];
    const std::string size = fmt::format("{}", extent.size);
    axes.push_back(extent.dim.str() == size ? size : extent.dim.str() + " = " + size);
  }
  std::string text = fmt::format("{} [{}]", name(buffer.space), fmt::join(axes, ", "));
  if (buffer.order != Order::RowMajor) text += fmt::format(", {}", name(buffer.order));
  return text;
}

void emit_table(const Unit& unit, Writer& out) {
  out.line(fmt::format("using Real = {};", unit.real));
  const bool approximate = unit.options.approximate && info(unit.plan.dtype).bytes == 2;
  out.line(fmt::format("namespace math = {};", approximate ? "approximate" : "accurate"));
  out.blank();
  out.comment("What the kernels are given.");
  out.open("struct Call : CallHeader");
  for (std::size_t i = 0; i < unit.plan.buffers.size(); ++i) {
    const Buffer& buffer = unit.plan.buffers[i];
    if (buffer.space == Space::Scratch) {
      out.line(fmt::format("Tensor<{}> unused_{};", unit.real, i));
    } else {
      out.line(fmt::format("Tensor<{}> {};  // {}", element_type(buffer), unit.fields[i], describe(buffer)));
    }
  }
  out.close(";");
  out.blank();
}

}  // namespace cellfuse::cuda
