#pragma once

#include <set>

#include "codegen/cuda/kernel_head.h"

namespace cellfuse::cuda {

/// The body of a kernel in which a team of threads computes a row, nest by nest. The team synchronises where a nest
/// reads what another thread wrote, or overwrites what another thread may still read.
class TeamCode {
 public:
  TeamCode(const KernelFrame& frame, const Layout& layout, const KernelHead& head, Writer& out)
      : frame_(frame), layout_(layout), head_(head), out_(out) {}

  void emit();

 private:
  void point_to_memory();
  void rows();
  void steps();
  void copy_states(bool into_loop);
  void exchange_states();
  void nests();
  void synchronise_for(const NestBody& body);
  std::set<int> written_by(const std::vector<StoredElement>& stores) const;
  bool synchronises(const NestBody& body) const;
  bool keeps_memory() const;

  const KernelFrame& frame_;
  const Layout& layout_;
  const KernelHead& head_;
  Writer& out_;

  // Since the last synchronisation.
  std::set<int> read_;
  std::set<int> written_;
};

}  // namespace cellfuse::cuda
