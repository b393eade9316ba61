#include "codegen/cuda/elements.h"

#include <algorithm>

#include "ir/diagnostic.h"

namespace cellfuse::cuda {

using codegen::Index;
using codegen::Linear;

const Load* Elements::load_of(NodeId id) const {
  for (const Load& load : frame_.kernel.loads) {
    if (load.node == id) return is_made_here(load) && roots_.contains(id) ? nullptr : &load;
  }
  return nullptr;
}

int Elements::add(Element element) {
  for (int operand : element.operands) {
    use(operand);
    const Element& of = (*this)[operand];
    element.scope = std::max(element.scope, of.scope);
    element.vector = element.vector || of.vector;
    element.follows_time = element.follows_time || of.follows_time;
  }
  for (int operand : element.operands) {
    Element& of = elements_[static_cast<std::size_t>(operand)];
    of.is_read_deeper |= of.scope < element.scope || of.follows_time != element.follows_time;
  }
  elements_.push_back(std::move(element));
  return size() - 1;
}

void Elements::check_lanes(const Linear& at) {
  if (!indices_.lane_stride(at)) regular_ = false;
}

int Elements::value(NodeId id, const Index& index, const std::string& hint) {
  const Node& node = graph_[id];
  const std::string& own = graph_.name(id);
  const std::string& known = own.empty() ? hint : own;
  const Load* load = load_of(id);
  const bool is_index_view = is_view(node.op) && node.op != Op::Concat;
  if (load == nullptr && is_index_view) {
    const Shape& shape = graph_[node.operands[0]].shape;
    return value(node.operands[0], indices_.through_view(node, shape, index), known);
  }
  auto it = by_value_.find({id, index});
  if (it != by_value_.end()) return it->second;
  int element = 0;
  if (load != nullptr) {
    element = memory(load->buffer, indices_.flat(node.shape, index), load->zero_when_masked, hint.empty() ? own : hint);
  } else if (is_leaf(node.op)) {
    element = leaf(id, index, known);
  } else {
    element = apply(id, index, known);
  }
  by_value_[{id, index}] = element;
  return element;
}

void Elements::note_read(int buffer) {
  const bool in_register = frame_.registers.contains(buffer) || frame_.uniforms.contains(buffer);
  if (frame_.changes(buffer) && !in_register) rereads_.insert(buffer);
}

int Elements::memory(int buffer, const Linear& at, bool zero_when_masked, const std::string& hint) {
  const bool is_register = frame_.registers.contains(buffer);
  if (!is_register) check_lanes(at);
  auto [it, fresh] = by_place_.try_emplace({{buffer, zero_when_masked}, at}, size());
  if (!fresh) return it->second;
  const Buffer& b = frame_.unit.buffer(buffer);
  note_read(buffer);
  Element element;
  element.kind = Element::Kind::Memory;
  element.buffer = buffer;
  element.zero_when_masked = zero_when_masked;
  element.at = at;
  element.scope = indices_.scope(at);
  element.vector = is_register ? lanes_ > 1 : indices_.is_vector(at);
  element.follows_time = b.time || zero_when_masked || frame_.changes(buffer);
  element.hint = hint.empty() ? b.name.substr(b.name.find('.') + 1) : hint;
  return add(std::move(element));
}

int Elements::leaf(NodeId id, const Index& index, const std::string& hint) {
  const Node& node = graph_[id];
  Element element;
  element.node = id;
  element.hint = hint;
  switch (node.op) {
    case Op::Constant: element.kind = Element::Kind::Constant; break;
    case Op::Iota:
      element.kind = Element::Kind::Count;
      element.at = index[static_cast<std::size_t>(node.axis)];
      break;
    case Op::Random:
      element.kind = Element::Kind::Random;
      element.at = indices_.flat(node.shape, index);
      element.follows_time = !node.flag;
      break;
    default:
      throw InternalError("codegen/cuda",
                          "kernel " + frame_.kernel.name + " does not load `" + std::string(name(node.op)) + "`");
  }
  const auto stride = indices_.lane_stride(element.at);
  if (!stride || stride->second > 1) regular_ = false;
  // The lanes of a draw are a part of one block of random numbers.
  if (stride && stride->second == 1 && node.op == Op::Random) {
    if (indices_.common_factor(stride->first) % lanes_ != 0) regular_ = false;
  }
  element.scope = indices_.scope(element.at);
  element.vector = indices_.is_vector(element.at);
  return add(std::move(element));
}

int Elements::apply(NodeId id, const Index& index, const std::string& hint) {
  const Node& node = graph_[id];
  if (!is_elementwise(node.op) || elementwise(node.op).expand != nullptr) {
    throw InternalError("codegen/cuda",
                        "kernel " + frame_.kernel.name + " has to compute `" + std::string(name(node.op)) + "`");
  }
  Element element;
  element.kind = Element::Kind::Apply;
  element.node = id;
  element.hint = hint;
  for (NodeId operand : node.operands) element.operands.push_back(value(operand, index));
  return add(std::move(element));
}

}  // namespace cellfuse::cuda
