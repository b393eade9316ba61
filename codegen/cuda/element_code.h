#pragma once

#include "codegen/cuda/kernel_head.h"
#include "codegen/cuda/nest_code.h"

namespace cellfuse::cuda {

/// The body of a kernel in which each thread computes some elements of a row and needs no other thread.
class ElementCode {
 public:
  ElementCode(const KernelFrame& frame, const Layout& layout, const KernelHead& head, Writer& out)
      : frame_(frame), layout_(layout), head_(head), out_(out) {}

  void emit();

 private:
  void place_thread();
  void nest(const NestBody& body);

  const KernelFrame& frame_;
  const Layout& layout_;
  const KernelHead& head_;
  Writer& out_;
  std::string group_;  ///< the number of the thread's group, as code
};

}  // namespace cellfuse::cuda
