#pragma once

#include <string>

#include "codegen/cuda/identifiers.h"
#include "codegen/cuda/layout.h"
#include "codegen/cuda/writer.h"

namespace cellfuse::cuda {

/// What stands around the nests of a kernel: its signature, which row a thread or team is at, and the launch that fits.
class KernelHead {
 public:
  KernelHead(const KernelFrame& frame, const Layout& layout, Writer& out);

  /// What the kernel computes, reads and writes.
  void comment() const;
  /// The signature and what every kernel begins with.
  void open();
  Launch launch() const;

  /// The number of rows.
  std::string rows() const;
  /// Declares which row is at hand, given its number: `time`, `sample`, `segment`, `slot`. `may_be_none`: the number
  /// may be past the last row; then the thread returns.
  void place_row(const std::string& number, bool may_be_none) const;
  /// Declares what is the same for all elements of a row at a step: `live`, `step`; `live` is read with the expression
  /// given, or from memory.
  void place_step(const std::string& live = {}) const;

  bool needs_live() const { return needs_live_; }
  bool needs_time() const { return needs_time_; }
  /// Names that code of the kernel must not use for values.
  const Names& names() const { return names_; }
  int live_buffer() const { return live_buffer_; }
  int step_buffer() const { return step_buffer_; }

 private:
  void find_needs();
  void find_needs_of(const Element& element);
  void find_needs_of(int buffer);
  std::vector<std::string> computed() const;
  std::string memory_names(bool written) const;
  std::string division() const;
  void exchange_states() const;

  const KernelFrame& frame_;
  const Layout& layout_;
  Writer& out_;
  Names names_;
  bool needs_live_ = false;
  bool needs_step_ = false;
  bool needs_time_ = false;
  bool needs_sample_ = false;
  int live_buffer_ = -1;
  int step_buffer_ = -1;
};

}  // namespace cellfuse::cuda
