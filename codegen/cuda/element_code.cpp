#include "codegen/cuda/element_code.h"

#include <fmt/format.h>

#include "codegen/cuda/step_walk.h"

namespace cellfuse::cuda {

void ElementCode::emit() {
  place_thread();
  if (frame_.walk == Walk::None && layout_.rows != Rows::One) head_.place_step();
  for (const auto& body : layout_.nests) nest(*body);
}

/// The row and, within it, the group of elements of the thread.
void ElementCode::place_thread() {
  std::string row = "block_in_grid()";
  group_ = "thread_in_block()";
  if (layout_.blocks_per_row > 1) {
    const bool one = layout_.rows == Rows::One;
    const bool wide = frame_.index_type() != "int";
    std::string block = wide ? "static_cast<long long>(block_in_grid())" : "block_in_grid()";
    if (!one) block += fmt::format(" % {}", layout_.blocks_per_row);
    row = fmt::format("block_in_grid() / {}", layout_.blocks_per_row);
    group_ = fmt::format("({} * {} + thread_in_block())", block, layout_.threads);
  } else if (layout_.rows_per_block > 1) {
    row = fmt::format("block_in_grid() * {} + thread_in_block() / {}", layout_.rows_per_block, layout_.groups);
    group_ = fmt::format("thread_in_block() % {}", layout_.groups);
  }
  head_.place_row(row, layout_.rows_per_block > 1 && layout_.rows != Rows::One);
}

void ElementCode::nest(const NestBody& body) {
  const bool scoped = layout_.nests.size() > 1;
  if (scoped) out_.open("");
  NestCode code(frame_, body, head_.names());
  code.define_value(out_);
  const std::int64_t count = body.nest.space.count();
  const std::int64_t threads = layout_.groups > 1 ? layout_.blocks_per_row * layout_.threads : 1;
  const bool may_be_none = threads > body.groups() && (layout_.blocks_per_row > 1 || layout_.groups > body.groups());
  if (count > body.lanes || may_be_none) {
    const std::string lanes = body.lanes > 1 ? fmt::format(" * {}", body.lanes) : "";
    out_.line(fmt::format("const {} unit = {}{};", frame_.index_type(), group_, lanes));
  }
  if (may_be_none && scoped) out_.open(fmt::format("if (unit < {})", count));
  if (may_be_none && !scoped) out_.line(fmt::format("if (unit >= {}) return;", count));
  if (frame_.walk == Walk::None) {
    code.declare(out_, 1);
    code.store(out_, body.stores);
  } else {
    StepWalk(frame_, head_, code, out_).emit();
  }
  if (may_be_none && scoped) out_.close();
  if (scoped) out_.close();
}

}  // namespace cellfuse::cuda
