#include "codegen/cpu/elements.h"

#include <algorithm>
#include <array>

#include "codegen/cpu/storage.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

std::uint64_t key_of(NodeId node, IndexId index) {
  return (static_cast<std::uint64_t>(node) << 32U) | static_cast<std::uint32_t>(index);
}

}  // namespace

Elements::Elements(Unit& unit, Scopes& scopes, Indices& indices, const FrameFields& frame, const Kernel& kernel)
    : unit_(unit), scopes_(scopes), indices_(indices), frame_(frame), kernel_(kernel) {
  for (const Store& store : kernel.stores) written_.insert(store.buffer);
  for (const Load& load : kernel.loads) loads_.emplace(load.node, load);
}

void Elements::enter_nest(const Nest& nest) {
  made_here_.clear();
  for (const std::vector<NodeId>* made : {&nest.roots, &nest.also}) {
    for (NodeId node : *made) {
      auto it = loads_.find(node);
      if (it != loads_.end() && written_.contains(it->second.buffer)) made_here_.insert(node);
    }
  }
}

const Load* Elements::source(NodeId node) const {
  auto it = loads_.find(node);
  return it == loads_.end() || made_here_.contains(node) ? nullptr : &it->second;
}

void Elements::fail(NodeId node, const std::string& what) const {
  std::string text = "kernel " + kernel_.name + ", value " + std::to_string(node);
  if (!unit_.graph.name(node).empty()) text += " (" + unit_.graph.name(node) + ")";
  text += ", " + std::string(name(unit_.graph[node].op)) + unit_.graph[node].shape.sizes();
  throw InternalError("codegen/cpu", text + ": " + what);
}

void Elements::set(NodeId node, IndexId index, const Element& element) {
  scopes_[element.scope].elements[key_of(node, index)] = element;
}

const Element* Elements::find(NodeId node, IndexId index) {
  const std::uint64_t key = key_of(node, index);
  for (int scope = 0; scope <= scopes_.innermost(); ++scope) {
    auto& elements = scopes_[scope].elements;
    if (auto it = elements.find(key); it != elements.end()) return &it->second;
  }
  return nullptr;
}

Element Elements::at(NodeId node, IndexId index) {
  std::vector<Reference> stack{{node, index}};
  std::unordered_set<std::uint64_t> seen;
  while (stack.size() > 1 || find(node, index) == nullptr) {
    const Reference last = stack.back();
    const bool is_new = seen.insert(key_of(last.node, last.index)).second;
    if (is_new && find(last.node, last.index) == nullptr) {
      for (const Reference& operand : operands(last.node, last.index)) {
        if (find(operand.node, operand.index) == nullptr) stack.push_back(operand);
      }
      continue;
    }
    // A comparison is made where it is used: mostly as a condition, not as a number.
    if (stack.size() == 1 || !is_comparison(last.node)) get(last.node, last.index);
    if (stack.size() == 1) break;
    stack.pop_back();
  }
  return get(node, index);
}

Element Elements::get(NodeId node, IndexId index) {
  if (const Element* found = find(node, index)) return *found;
  Element element = compute(node, index);
  if (llvm::isa<llvm::Instruction>(element.value) && !element.value->hasName()) {
    element.value->setName(unit_.graph.name(node));
  }
  set(node, index, element);
  return element;
}

llvm::Value* Elements::value(NodeId node, IndexId index, bool vector) {
  Element element = at(node, index);
  return vector ? scopes_.splat(element) : element.value;
}

std::vector<Reference> Elements::operands(NodeId id, IndexId index) {
  if (forbidden_.contains(id)) fail(id, "read at another element than its own");
  if (source(id) != nullptr) return {};
  const Node& node = unit_.graph[id];
  if (is_elementwise(node.op)) {
    const ElementwiseInfo& info = elementwise(node.op);
    if (info.expand != nullptr) return {{expanded(id, info), index}};
    std::vector<Reference> list;
    for (NodeId operand : node.operands) list.push_back({operand, index});
    return list;
  }
  switch (node.op) {
    case Op::Constant:
    case Op::Iota:
    case Op::Random: return {};
    case Op::Slice:
    case Op::Reshape:
    case Op::Transpose:
    case Op::Broadcast: {
      const NodeId operand = node.operands[0];
      return {{operand, indices_.through_view(node, unit_.graph[operand].shape, index)}};
    }
    case Op::Concat: return {concat_part(id, index)};
    case Op::WithGrad:
    case Op::Accumulate: return {{node.operands[0], index}};
    case Op::Outer: {
      const Index position = indices_[index];
      return {{node.operands[0], indices_.intern({position[0]})}, {node.operands[1], indices_.intern({position[1]})}};
    }
    default: fail(id, "neither loaded nor computed by an earlier nest");
  }
}

Element Elements::compute(NodeId id, IndexId index) {
  if (const Load* load = source(id)) return loaded(id, *load, index);
  const Node& node = unit_.graph[id];
  if (node.op == Op::Constant) return {real_constant(unit_.real, node.value), 0, false};
  if (node.op == Op::Iota) return iota(indices_[index][static_cast<std::size_t>(node.axis)]);
  if (node.op == Op::Random) return random(node, index);
  if (is_elementwise(node.op) && elementwise(node.op).expand == nullptr) {
    return primitive(elementwise(node.op), id, index);
  }
  const std::vector<Reference> from = operands(id, index);
  if (node.op != Op::Outer) return get(from[0].node, from[0].index);
  std::array<Element, 2> factors{get(from[0].node, from[0].index), get(from[1].node, from[1].index)};
  const int scope = unify(factors);
  return {scopes_.at(scope).CreateFMul(factors[0].value, factors[1].value), scope, factors[0].vector};
}

Reference Elements::concat_part(NodeId id, IndexId index) {
  const Node& node = unit_.graph[id];
  Index position = indices_[index];
  Linear& along = position[static_cast<std::size_t>(node.axis)];
  const auto [low, high] = indices_.range(along);
  std::int64_t begin = 0;
  for (NodeId part : node.operands) {
    const std::int64_t end = begin + unit_.graph[part].shape[node.axis].size;
    if (low >= begin && high < end) {
      along = along + Linear(-begin);
      return {part, indices_.intern(position)};
    }
    begin = end;
  }
  fail(id, "a concatenation is read across its parts but not loaded");
}

int Elements::unify(std::span<Element> operands) {
  int scope = 0;
  bool vector = false;
  for (const Element& operand : operands) {
    scope = std::max(scope, operand.scope);
    vector = vector || operand.vector;
  }
  if (vector) {
    for (Element& operand : operands) operand = {scopes_.splat(operand), operand.scope, true};
  }
  return scope;
}

Element Elements::iota(const Linear& index) {
  llvm::Value* number = indices_.value(index);
  const int scope = indices_.scope(index);
  const bool vector = number->getType()->isVectorTy();
  llvm::Type* type = vector ? static_cast<llvm::Type*>(unit_.vector(unit_.real)) : unit_.real;
  return {scopes_.at(scope).CreateSIToFP(number, type), scope, vector};
}

int Elements::buffer_of(Space space) const {
  const auto it = std::ranges::find(unit_.plan.buffers, space, &Buffer::space);
  if (it == unit_.plan.buffers.end()) {
    throw InternalError("codegen/cpu", "kernel " + kernel_.name + " needs a buffer of space " +
                                           std::string(name(space)) + " that the plan lacks");
  }
  return static_cast<int>(it - unit_.plan.buffers.begin());
}

Element Elements::live() {
  if (const Element* known = find(kNoNode, 0)) return *known;
  int scope = 0;
  llvm::Value* pointer = base(buffer_of(Space::Live), scope);
  Builder& builder = scopes_.at(scope);
  llvm::Value* flag = load_one(unit_, builder, pointer, Stored::Byte);
  const Element element{builder.CreateICmpNE(flag, builder.getInt8(0), "live"), scope, false};
  set(kNoNode, 0, element);
  return element;
}

llvm::Value* Elements::base(int id, int& scope) {
  const Buffer& buffer = unit_.plan.buffers[static_cast<std::size_t>(id)];
  struct Move {
    llvm::Value* by;
    llvm::Value* (FrameFields::*stride)(Builder&, int) const;
    int scope;
  };
  std::vector<Move> moves;
  if (buffer.time) moves.push_back({place_.step, &FrameFields::time_stride, place_.step_scope});
  if (buffer.batch) moves.push_back({place_.sample, &FrameFields::batch_stride, place_.sample_scope});
  std::ranges::sort(moves, {}, &Move::scope);
  scope = moves.empty() ? 0 : moves.back().scope;
  if (auto it = scopes_[scope].bases.find(id); it != scopes_[scope].bases.end()) return it->second;

  llvm::Value* pointer = frame_.data(scopes_.at(0), id);
  for (const Move& move : moves) {
    if (move.by == nullptr) {
      throw InternalError("codegen/cpu", "kernel " + kernel_.name + " touches buffer " + buffer.name +
                                             " outside of the steps or samples it has");
    }
    llvm::Value* stride = (frame_.*move.stride)(scopes_.at(0), id);
    Builder& builder = scopes_.at(move.scope);
    pointer = builder.CreateGEP(builder.getInt8Ty(), pointer, builder.CreateMul(move.by, stride), buffer.name + ".row");
  }
  scopes_[scope].bases[id] = pointer;
  return pointer;
}

Linear Elements::offset(const Buffer& buffer, const Shape& shape, const Index& index) const {
  if (buffer.order == Order::RowMajor) return indices_.flat(shape, index);
  if (buffer.order == Order::Transposed && shape.rank() == 2) return index[0] + shape[0].size * index[1];
  throw InternalError("codegen/cpu", "kernel " + kernel_.name + " reads or writes buffer " + buffer.name +
                                         " element by element in the order " + std::string(name(buffer.order)));
}

Element Elements::load(int id, const Shape& shape, const Index& index) {
  const Buffer& buffer = unit_.plan.buffers[static_cast<std::size_t>(id)];
  const Stored stored = stored_as(buffer);
  const Linear place = offset(buffer, shape, index);
  int scope = 0;
  llvm::Value* pointer = base(id, scope);
  // A buffer that the kernel itself fills is read in the row that filled it, in place.
  if (written_.contains(id)) scope = std::max({scope, place_.sample_scope, place_.step_scope});
  scope = std::max(scope, indices_.scope(place));

  Linear first;
  llvm::Type* raw = raw_type(unit_, stored);
  if (!indices_.is_vector(place)) {
    llvm::Value* offset = indices_.value(place);
    Builder& builder = scopes_.at(scope);
    llvm::Value* element = load_one(unit_, builder, builder.CreateGEP(raw, pointer, offset), stored);
    return {widen(unit_, builder, element, stored), scope, false};
  }
  llvm::Value* mask = indices_.mask(place);
  llvm::Value* elements = nullptr;
  if (indices_.is_contiguous(place, first)) {
    llvm::Value* offset = indices_.value(first);
    Builder& builder = scopes_.at(scope);
    elements = load_vector(unit_, builder, builder.CreateGEP(raw, pointer, offset), stored, mask);
  } else {
    check_internal(indices_.range(place).second < (std::int64_t{1} << 31), "codegen/cpu",
                   "a gather beyond 2^31 elements");
    llvm::Value* offsets = indices_.value(place);
    elements = gather(unit_, scopes_.at(scope), pointer, offsets, stored, mask);
  }
  return {widen(unit_, scopes_.at(scope), elements, stored), scope, true};
}

Element Elements::loaded(NodeId node, const Load& source, IndexId index) {
  const Index position = indices_[index];
  Element element = load(source.buffer, unit_.graph[node].shape, position);
  if (!source.zero_when_masked) return element;
  const Element mask = live();
  const int scope = std::max(mask.scope, element.scope);
  llvm::Value* flags = element.vector ? scopes_.splat(mask) : mask.value;
  llvm::Value* zero = llvm::Constant::getNullValue(element.value->getType());
  return {scopes_.at(scope).CreateSelect(flags, element.value, zero), scope, element.vector};
}

}  // namespace cellfuse::cpu
