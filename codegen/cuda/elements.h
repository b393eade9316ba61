#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/common/indices.h"
#include "codegen/cuda/unit.h"

namespace cellfuse::cuda {

/// A value at an index: one number, or one a lane.
struct Element {
  enum class Kind : std::uint8_t { Constant, Memory, Count, Random, Apply };
  Kind kind = Kind::Constant;
  NodeId node = kNoNode;
  std::vector<int> operands;      ///< of Apply
  int buffer = -1;                ///< of Memory
  bool zero_when_masked = false;  ///< of Memory
  codegen::Linear at;             ///< Memory: number of the element in the row; Count: its value; Random: of the draw
  int scope = 0;                  ///< deepest loop that it depends on
  bool vector = false;            ///< differs from lane to lane
  bool follows_time = false;      ///< may differ from step to step
  int uses = 0;
  bool is_read_deeper = false;  ///< in a loop that it does not depend on
  std::string hint;             ///< what the user calls it
};

/// What the roots of a nest are computed from, each value at each index once: follows operands and views down to
/// memory, constants and random draws. Operands come before their users.
class Elements {
 public:
  /// `roots`: what the nest itself computes, also where the kernel keeps it in memory for later nests.
  Elements(const KernelFrame& frame, codegen::Indices& indices, int lanes, std::set<NodeId> roots)
      : frame_(frame), graph_(frame.unit.graph), indices_(indices), lanes_(lanes), roots_(std::move(roots)) {}

  int value(NodeId id, const codegen::Index& index, const std::string& hint = {});
  int memory(int buffer, const codegen::Linear& at, bool zero_when_masked, const std::string& hint);
  /// Notes when the lanes at `at` lie at no fixed distance from each other.
  void check_lanes(const codegen::Linear& at);
  /// Code around the nest reads the buffer.
  void note_read(int buffer);
  /// Once more read, by a store or by code around the nest.
  void use(int element) { ++elements_[static_cast<std::size_t>(element)].uses; }

  const Element& operator[](int element) const { return elements_[static_cast<std::size_t>(element)]; }
  int size() const { return static_cast<int>(elements_.size()); }
  codegen::Indices& indices() const { return indices_; }
  int lanes() const { return lanes_; }

  /// False where lanes read memory at no fixed distance from each other.
  bool is_regular() const { return regular_; }
  /// Buffers read that the kernel also writes.
  const std::set<int>& rereads() const { return rereads_; }

 private:
  const Load* load_of(NodeId id) const;
  bool is_made_here(const Load& load) const { return frame_.writes(load.buffer); }
  int leaf(NodeId id, const codegen::Index& index, const std::string& hint);
  int apply(NodeId id, const codegen::Index& index, const std::string& hint);
  int add(Element element);

  using Key = std::pair<NodeId, codegen::Index>;
  using Place = std::pair<std::pair<int, bool>, codegen::Linear>;

  const KernelFrame& frame_;
  const Graph& graph_;
  codegen::Indices& indices_;
  int lanes_;
  std::set<NodeId> roots_;
  std::vector<Element> elements_;
  std::map<Key, int> by_value_;
  std::map<Place, int> by_place_;
  std::set<int> rereads_;
  bool regular_ = true;
};

}  // namespace cellfuse::cuda
