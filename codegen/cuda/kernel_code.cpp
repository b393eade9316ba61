#include "codegen/cuda/kernel_code.h"

#include "codegen/cuda/element_code.h"
#include "codegen/cuda/team_code.h"

namespace cellfuse::cuda {

Launch emit_kernel(KernelFrame& frame, Writer& out) {
  const Layout layout = lay_out(frame);
  KernelHead head(frame, layout, out);
  head.comment();
  head.open();
  if (layout.has_teams) {
    TeamCode(frame, layout, head, out).emit();
  } else {
    ElementCode(frame, layout, head, out).emit();
  }
  out.close();
  out.blank();
  return head.launch();
}

}  // namespace cellfuse::cuda
