#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/cpu/indices.h"
#include "codegen/cpu/scopes.h"

namespace cellfuse::cpu {

/// A value at an index.
struct Reference {
  NodeId node = kNoNode;
  IndexId index = 0;
};

/// The rows of a kernel: where they start in each buffer.
struct RowPlace {
  llvm::Value* step = nullptr;  ///< null where there is none
  int step_scope = 0;
  llvm::Value* sample = nullptr;  ///< null where there is none
  int sample_scope = 0;
};

/// The values of one kernel for one row, made on demand at an index: in place, through views, or read from a buffer.
/// A value is computed once in the scope of what it depends on.
class Elements {
 public:
  Elements(Unit& unit, Scopes& scopes, Indices& indices, const FrameFields& frame, const Kernel& kernel);

  /// Where in time and batch the kernel is now.
  void set_place(const RowPlace& place) { place_ = place; }
  const RowPlace& place() const { return place_; }
  /// From here on the nest at hand is this one: what it makes is computed, even where the kernel also reads it.
  void enter_nest(const Nest& nest);

  /// The value of a node at an index. Chains of values may be long: what it depends on is made one by one, not by calls
  /// within calls.
  Element at(NodeId node, IndexId index);
  /// The same, in all lanes if `vector`.
  llvm::Value* value(NodeId node, IndexId index, bool vector);
  /// Makes `at` give this element in its scope: a finished reduction, a carried state.
  void set(NodeId node, IndexId index, const Element& element);
  /// Refuses every use of a node at an index other than those set.
  void forbid_loads(NodeId node) { forbidden_.insert(node); }

  /// Whether the step of the row is live: `i1`.
  Element live();
  /// Address of the row in a buffer; the element is in the scope of what moves it.
  llvm::Value* base(int buffer, int& scope);
  /// Offset of an element in a buffer of a value of that shape, as the buffer's order has it.
  Linear offset(const Buffer& buffer, const Shape& shape, const Index& index) const;
  /// Element of a buffer in the compute type.
  Element load(int buffer, const Shape& shape, const Index& index);

  [[noreturn]] void fail(NodeId node, const std::string& what) const;

 private:
  /// The value where it is known; null otherwise.
  const Element* find(NodeId node, IndexId index);
  /// What the value is computed from: values at the indices that views lead to.
  std::vector<Reference> operands(NodeId node, IndexId index);
  Element get(NodeId node, IndexId index);
  Element compute(NodeId node, IndexId index);
  NodeId expanded(NodeId node, const ElementwiseInfo& info);
  bool is_comparison(NodeId node) const;
  Element primitive(const ElementwiseInfo& info, NodeId node, IndexId index);
  Element condition(NodeId node, IndexId index);
  Element random(const Node& node, IndexId index);
  Element iota(const Linear& index);
  Reference concat_part(NodeId id, IndexId index);
  Element loaded(NodeId node, const Load& load, IndexId index);
  /// The load by which the nest at hand reads the node; null where it computes it.
  const Load* source(NodeId node) const;
  int buffer_of(Space space) const;
  /// Makes all operands vectors if one of them is; returns the scope where all are known.
  int unify(std::span<Element> operands);

  Unit& unit_;
  Scopes& scopes_;
  Indices& indices_;
  FrameFields frame_;
  const Kernel& kernel_;
  RowPlace place_;
  std::unordered_map<NodeId, Load> loads_;
  std::unordered_set<NodeId> made_here_;  ///< of the loads, what the nest at hand makes
  std::unordered_set<NodeId> forbidden_;
  std::unordered_set<int> written_;  ///< buffers that this kernel stores to
  std::unordered_map<NodeId, NodeId> expansions_;
};

}  // namespace cellfuse::cpu
