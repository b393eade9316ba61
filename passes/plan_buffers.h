#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/plan.h"
#include "passes/places.h"

namespace cellfuse {

/// The buffers of a plan under construction, made when first asked for.
class PlanBuffers {
 public:
  PlanBuffers(const Sequence& sequence, const Materialisation& values, DType dtype);

  /// Where the caller, the record or the loop keeps a source.
  int source(NodeId id);
  /// Where a stored value is kept: Workspace, or an Accumulator for sums.
  int home(NodeId id);
  /// What a GEMM reads for `id`.
  int gemm_operand(NodeId id) { return values_.buffered[id] ? home(id) : source(id); }
  int sink(const Sink& sink);
  int state(int index, int which);

  std::vector<Buffer> take() { return std::move(buffers_); }
  const Buffer& operator[](int id) const { return buffers_[static_cast<std::size_t>(id)]; }

 private:
  struct Key {
    Space space;
    int index;
    int which;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  int get(Key key, const std::string& name, DType dtype, bool time, bool batch, const Shape& shape);
  std::string unique(const std::string& name);
  std::string value_name(NodeId id) const;
  int record_field(int input) const;

  const Sequence& sequence_;
  const Graph& graph_;
  const Materialisation& values_;
  DType dtype_;
  DType compute_;
  std::vector<Buffer> buffers_;
  std::map<Key, int> ids_;
  std::set<std::string> names_;
};

}  // namespace cellfuse
