#include "codegen/cpu/kernel.h"

#include <algorithm>

#include "codegen/cpu/storage.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

KernelEmitter::KernelEmitter(Unit& unit, const Kernel& kernel, llvm::Function* function)
    : unit_(unit),
      kernel_(kernel),
      function_(function),
      frame_(unit, function->getArg(0)),
      scopes_(unit, function),
      indices_(unit, scopes_),
      elements_(unit, scopes_, indices_, frame_, kernel) {}

llvm::Function* KernelEmitter::emit(Unit& unit, const Kernel& kernel, const std::string& name, bool in_loop) {
  std::vector<llvm::Type*> arguments{unit.pointer()};
  if (in_loop) arguments.push_back(unit.i64());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(unit.context()), arguments, false);
  llvm::Function* function = unit.function(name, type, true);
  function->getArg(0)->setName("frame");
  if (in_loop) function->getArg(1)->setName("step");
  KernelEmitter emitter(unit, kernel, function);
  emitter.rows(in_loop);
  emitter.scopes_.at(0).CreateRetVoid();
  return function;
}

void KernelEmitter::rows(bool in_loop) {
  RowPlace place;
  std::vector<OpenLoop> loops;
  auto open = [&](llvm::Value* count, const char* name) {
    loops.push_back(scopes_.open(unit_.number(0), count, 1, name));
    return loops.back().index;
  };
  if (kernel_.domain == Domain::Step && in_loop) {
    place.step = function_->getArg(1);
  } else if (kernel_.domain == Domain::Step) {
    place.step = open(frame_.steps(scopes_.at(0)), "step");
    place.step_scope = scopes_.innermost();
  }
  if (kernel_.domain != Domain::Once) {
    place.sample = open(frame_.samples(scopes_.at(0)), "sample");
    place.sample_scope = scopes_.innermost();
  }
  elements_.set_place(place);
  for (const Nest& each : kernel_.nests) {
    elements_.enter_nest(each);
    nest(each);
  }
  while (!loops.empty()) {
    scopes_.close(loops.back());
    loops.pop_back();
  }
}

void KernelEmitter::nest(const Nest& nest) {
  switch (nest.kind) {
    case NestKind::Map: return map(nest);
    case NestKind::Reduce: return reduce(nest);
    case NestKind::CumSum:
      for (NodeId root : nest.roots) cumsum(nest, root);
      return;
  }
}

void KernelEmitter::over_axes(const Shape& space, int axis, int skipped, bool vectors, const Body& body) {
  if (axis >= space.rank() - (vectors ? 1 : 0)) return body();
  if (axis == skipped || space[axis].size == 1) return over_axes(space, axis + 1, skipped, vectors, body);
  const std::int64_t size = space[axis].size;
  OpenLoop loop = scopes_.open(unit_.number(0), unit_.number(size), 1, "axis" + std::to_string(axis));
  index_[static_cast<std::size_t>(axis)] = indices_.loop_variable(loop.index, scopes_.innermost(), size - 1, 1);
  over_axes(space, axis + 1, skipped, vectors, body);
  scopes_.close(loop);
  index_[static_cast<std::size_t>(axis)] = Linear();
}

void KernelEmitter::over_vectors(std::int64_t size, const VectorBody& body) {
  if (size == 1) return body(Linear(), false);
  const std::int64_t lanes = unit_.lanes;
  const std::int64_t whole = size / lanes * lanes;
  if (whole == lanes) {
    body(indices_.lane_variable(unit_.lanes), true);
  } else if (whole > lanes) {
    OpenLoop loop = scopes_.open(unit_.number(0), unit_.number(whole), lanes, "vector");
    const Linear first = indices_.loop_variable(loop.index, scopes_.innermost(), whole - lanes, lanes);
    body(first + indices_.lane_variable(unit_.lanes), true);
    scopes_.close(loop);
  }
  if (whole < size) body(Linear(whole) + indices_.lane_variable(static_cast<int>(size - whole)), true);
}

void KernelEmitter::over_space(const Shape& space, int skipped, const std::function<void(bool vector)>& body) {
  const int last = space.rank() - 1;
  index_.assign(static_cast<std::size_t>(space.rank()), Linear());
  if (last < 0 || skipped == last) return over_axes(space, 0, skipped, false, [&] { body(false); });
  over_axes(space, 0, skipped, true, [&] {
    over_vectors(space[last].size, [&](const Linear& position, bool vector) {
      index_.back() = position;
      body(vector);
    });
  });
}

IndexId KernelEmitter::index_without(int axis) {
  Index index = index_;
  index.erase(index.begin() + axis);
  return indices_.intern(index);
}

void KernelEmitter::map(const Nest& nest) {
  over_space(nest.space, -1, [&](bool vector) {
    for (NodeId root : nest.roots) store_all(root, elements_.at(root, index_here()), index_, vector);
    for (NodeId node : nest.also) store_all(node, elements_.at(node, index_here()), index_, vector);
  });
}

void KernelEmitter::store_all(NodeId node, const Element& element, const Index& index, bool vector) {
  for (const Store& each : kernel_.stores) {
    if (each.node == node) store(each, element, index, vector);
  }
}

llvm::Value* KernelEmitter::masked(const Store& store, llvm::Value* value, const Destination& place, bool vector) {
  if (store.when_masked == WhenMasked::Store) return value;
  llvm::Value* otherwise = nullptr;
  if (store.when_masked == WhenMasked::Hold) {
    const auto it = carried_.find({store.hold, indices_.intern(place.index)});
    const Element held = it != carried_.end() ? it->second : elements_.load(store.hold, place.shape, place.index);
    otherwise = vector ? scopes_.splat(held) : held.value;
  } else {
    // Nothing is added exactly by -0.
    otherwise = real_constant(value->getType(), store.mode == StoreMode::Add ? -0.0 : 0.0);
  }
  const Element live = elements_.live();
  llvm::Value* flags = vector ? scopes_.splat(live) : live.value;
  return scopes_.here().CreateSelect(flags, value, otherwise);
}

/// Where an element of a stored value lies in its buffer: moved along an axis where the value is a part of it.
KernelEmitter::Destination KernelEmitter::place_of(const Store& store, const Index& index) const {
  const Buffer& buffer = unit_.plan.buffers[static_cast<std::size_t>(store.buffer)];
  const Shape& shape = unit_.graph[store.node].shape;
  if (buffer.shape.count() == shape.count()) return {shape, index};
  if (buffer.shape.rank() != shape.rank()) elements_.fail(store.node, "does not fit buffer " + buffer.name);
  Destination place{buffer.shape, index};
  Linear& along = place.index[static_cast<std::size_t>(store.axis)];
  along = along + Linear(store.begin);
  return place;
}

void KernelEmitter::store(const Store& store, const Element& element, const Index& index, bool vector) {
  const Buffer& buffer = unit_.plan.buffers[static_cast<std::size_t>(store.buffer)];
  const Stored stored = stored_as(buffer);
  const Destination at = place_of(store, index);
  llvm::Value* value = masked(store, vector ? scopes_.splat(element) : element.value, at, vector);
  const Linear place = elements_.offset(buffer, at.shape, at.index);
  int scope = 0;
  llvm::Value* base = elements_.base(store.buffer, scope);
  Linear first = place;
  const bool contiguous = vector && indices_.is_contiguous(place, first);
  llvm::Value* mask = indices_.mask(place);
  llvm::Value* offset = indices_.value(vector && !contiguous ? place : first);
  Builder& b = scopes_.here();
  llvm::Value* pointer = vector && !contiguous ? base : b.CreateGEP(raw_type(unit_, stored), base, offset);

  if (store.mode == StoreMode::Add) {
    llvm::Value* old = !vector      ? load_one(unit_, b, pointer, stored)
                       : contiguous ? load_vector(unit_, b, pointer, stored, mask)
                                    : gather(unit_, b, base, offset, stored, mask);
    value = b.CreateFAdd(widen(unit_, b, old, stored), value);
  }
  llvm::Value* raw = narrow(unit_, b, value, stored);
  if (!vector) {
    store_one(unit_, b, raw, pointer, stored);
  } else if (contiguous) {
    store_vector(unit_, b, raw, pointer, stored, mask);
  } else {
    scatter(unit_, b, raw, base, offset, stored, mask);
  }
}

}  // namespace cellfuse::cpu
