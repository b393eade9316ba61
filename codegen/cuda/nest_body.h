#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/cuda/elements.h"

namespace cellfuse::cuda {

/// A store of a nest: what, and to which element of the row.
struct StoredElement {
  const Store* store = nullptr;
  int element = -1;  ///< -1: the total of a reduction or running sum
  codegen::Linear at;
  int hold = -1;  ///< element stored at masked steps, for WhenMasked::Hold; -1 for totals, which read it when they do
};

/// A reduction or running sum of a nest.
struct Total {
  NodeId root = kNoNode;
  int element = -1;  ///< what is added up
  std::vector<StoredElement> stores;
};

/// What the threads of a nest do.
enum class Pattern : std::uint8_t {
  Each,          ///< a thread an element of the space
  ReduceAll,     ///< all threads together make the totals of the whole space
  ReduceLines,   ///< neighbouring threads share a line, whose elements are neighbours too
  ReduceSlices,  ///< threads share the lines slice by slice; neighbouring lines lie side by side
  SumLines,      ///< a thread makes the running sum of a line
  SumTogether,   ///< all threads make the running sum of one line after the other
};

/// A nest, resolved for a vector width: each value at the index that the loops over its space give.
class NestBody {
 public:
  NestBody(const KernelFrame& frame, const Nest& nest, Pattern pattern, int lanes);

  const Nest& nest;
  const Pattern pattern;
  const int lanes;
  codegen::Indices indices;
  Elements elements;
  std::vector<std::string> variables;  ///< names of the index variables, by number
  std::vector<StoredElement> stores;   ///< of values made at each index
  std::vector<Total> totals;
  std::int64_t lines = 1;   ///< of a reduction or running sum
  std::int64_t length = 1;  ///< of a line

  /// The number of the element at hand, for Pattern::Each.
  codegen::Linear unit() const { return unit_; }
  /// Groups of lanes, for Pattern::Each and ReduceAll.
  std::int64_t groups() const { return nest.space.count() / lanes; }

 private:
  codegen::Linear define(const std::string& name, const codegen::IndexVariable& variable);
  codegen::Index each_index();
  codegen::Index line_index(codegen::Index& of_result);
  StoredElement stored(const Store& store, int element, const codegen::Index& index);
  void resolve();
  void add_roots(const std::vector<NodeId>& roots, const codegen::Index& index);
  void add_total(NodeId root, const codegen::Index& index, const codegen::Index& of_result);

  const KernelFrame& frame_;
  codegen::Linear unit_;
};

/// What a nest is when each row has a team of `threads`, or (0) each element a thread.
Pattern choose_pattern(const Nest& nest, int threads);

/// The widest body whose memory accesses are regular, with at most `widest` lanes.
std::unique_ptr<NestBody> resolve_nest(const KernelFrame& frame, const Nest& nest, Pattern pattern, int widest);

}  // namespace cellfuse::cuda
