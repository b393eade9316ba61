#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cpu/elements.h"

namespace cellfuse::cpu {

/// Emits one fused kernel as a function: the rows, and for each row the nests in order. The last axis of a nest is cut
/// into vectors; what remains of it is one vector of which some lanes count.
class KernelEmitter {
 public:
  KernelEmitter(Unit& unit, const Kernel& kernel, llvm::Function* function);

  /// `void(Frame*)`, or in a loop `void(Frame*, i64 step)`; steps and samples are at least 1.
  static llvm::Function* emit(Unit& unit, const Kernel& kernel, const std::string& name, bool in_loop);
  /// A whole loop over time whose body is this kernel: `void(Frame*)`. Each vector of units walks through the steps
  /// with its state in registers.
  static llvm::Function* emit_scan(Unit& unit, const TimeLoop& loop, const std::string& name);

 private:
  using Body = std::function<void()>;
  /// Along the last axis: where, and whether as a vector.
  using VectorBody = std::function<void(const Linear& position, bool vector)>;
  struct Block {
    Linear position;
    bool vector = false;
  };
  struct ScanState;

  void rows(bool in_loop);
  void nest(const Nest& nest);
  void map(const Nest& nest);
  void reduce(const Nest& nest);
  void reduce_last_axis(const Nest& nest);
  void reduce_outer_axis(const Nest& nest);
  void cumsum(const Nest& nest, NodeId root);
  void cumsum_last_axis(const Nest& nest, NodeId root);
  void cumsum_outer_axis(const Nest& nest, NodeId root);

  /// Loops over the axes from `axis` on, except `skipped` and, with `vectors`, the last; sets `index_`.
  void over_axes(const Shape& space, int axis, int skipped, bool vectors, const Body& body);
  /// The last axis in vectors.
  void over_vectors(std::int64_t size, const VectorBody& body);
  /// All of a space, its last axis in vectors, without `skipped`.
  void over_space(const Shape& space, int skipped, const std::function<void(bool vector)>& body);

  IndexId index_without(int axis);
  IndexId index_here() { return indices_.intern(index_); }

  /// Stores the value of a node at `index_`, wherever the kernel stores it.
  void store_all(NodeId node, const Element& element, const Index& index, bool vector);
  void store(const Store& store, const Element& element, const Index& index, bool vector);
  /// An element of a buffer: the buffer's shape, and the index in it.
  struct Destination {
    Shape shape;
    Index index;
  };
  Destination place_of(const Store& store, const Index& index) const;
  llvm::Value* masked(const Store& store, llvm::Value* value, const Destination& place, bool vector);

  void scan_samples(const TimeLoop& loop);
  void scan_blocks(const TimeLoop& loop, const std::vector<Block>& blocks);
  const Store& next_store(const Carried& carried) const;
  const Shape& buffer_shape(const Carried& carried) const;
  std::vector<llvm::Value*> scan_step(const TimeLoop& loop, const std::vector<Block>& blocks);

  Unit& unit_;
  const Kernel& kernel_;
  llvm::Function* function_;
  FrameFields frame_;
  Scopes scopes_;
  Indices indices_;
  Elements elements_;
  Index index_;
  std::map<std::pair<int, IndexId>, Element> carried_;  ///< in a scan: the states, by buffer and index
};

}  // namespace cellfuse::cpu
