#include "codegen/cuda/element_code.h"

#include <fmt/format.h>

#include "codegen/cuda/step_walk.h"

namespace cellfuse::cuda {

void ElementCode::emit() {
  place_thread();
  head_.place_row();
  if (frame_.walk == Walk::None && layout_.rows != Rows::One) head_.place_step();
  for (const auto& body : layout_.nests) nest(*body);
}

void ElementCode::place_thread() {
  const std::string group = "group";
  if (layout_.rows == Rows::One) {
    if (layout_.blocks_per_row == 1) {
      out_.line("const int group = thread_in_block();");
    } else {
      out_.line(fmt::format("const int group = block_in_grid() * {} + thread_in_block();", layout_.threads));
    }
  } else if (layout_.blocks_per_row > 1) {
    out_.line(fmt::format("const int row = block_in_grid() / {};", layout_.blocks_per_row));
    out_.line(fmt::format("const int group = block_in_grid() % {} * {} + thread_in_block();", layout_.blocks_per_row,
                          layout_.threads));
  } else if (layout_.rows_per_block > 1) {
    out_.line(fmt::format("const int row = block_in_grid() * {} + thread_in_block() / {};", layout_.rows_per_block,
                          layout_.groups));
    out_.line(fmt::format("const int group = thread_in_block() % {};", layout_.groups));
    out_.line(fmt::format("if (row >= {}) return;", head_.rows()));
  } else {
    out_.line("const int row = block_in_grid();");
    out_.line("const int group = thread_in_block();");
  }
  if (layout_.blocks_per_row * layout_.threads > layout_.groups && layout_.blocks_per_row > 1) {
    out_.line(fmt::format("if (group >= {}) return;", layout_.groups));
  }
}

void ElementCode::nest(const NestBody& body) {
  const bool guarded = body.groups() < layout_.groups;
  const bool scoped = guarded || layout_.nests.size() > 1;
  if (scoped) out_.open(guarded ? fmt::format("if (group < {})", body.groups()) : "");
  NestCode code(frame_, body, head_.names());
  code.define_value(out_);
  if (body.nest.space.count() > body.lanes) {
    out_.line(fmt::format("const int unit = group{};", body.lanes > 1 ? fmt::format(" * {}", body.lanes) : ""));
  }
  if (frame_.walk == Walk::None) {
    code.declare(out_, 1);
    code.store(out_, body.stores);
  } else {
    StepWalk(frame_, head_, code, out_).emit();
  }
  if (scoped) out_.close();
}

}  // namespace cellfuse::cuda
