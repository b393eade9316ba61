#include "codegen/cuda/nest_body.h"

#include <algorithm>

#include "ir/diagnostic.h"

namespace cellfuse::cuda {

using codegen::Index;
using codegen::IndexVariable;
using codegen::Linear;

namespace {

/// Lines shorter than this are added up by one thread.
constexpr std::int64_t kShortLine = 32;

std::set<NodeId> roots_of(const Nest& nest) {
  std::set<NodeId> roots(nest.roots.begin(), nest.roots.end());
  roots.insert(nest.also.begin(), nest.also.end());
  return roots;
}

Index insert_axis(Index index, int axis, const Linear& at) {
  index.insert(index.begin() + axis, at);
  return index;
}

}  // namespace

NestBody::NestBody(const KernelFrame& frame, const Nest& nest, Pattern pattern, int lanes)
    : nest(nest),
      pattern(pattern),
      lanes(lanes),
      indices(lanes),
      elements(frame, indices, lanes, roots_of(nest)),
      frame_(frame) {
  if (nest.kind != NestKind::Map) {
    length = nest.space[nest.axis].size;
    lines = length == 0 ? 0 : nest.space.count() / length;
  }
  resolve();
}

Linear NestBody::define(const std::string& name, const IndexVariable& variable) {
  const Linear result = indices.define(variable);
  if (!result.terms.empty()) {
    variables.resize(static_cast<std::size_t>(result.terms[0].first) + 1);
    variables.back() = name;
  }
  return result;
}

/// Every element of the space, `lanes` at a time.
Index NestBody::each_index() {
  const std::int64_t count = nest.space.count();
  Linear first = define("unit", {std::max<std::int64_t>(count - lanes, 0), lanes, 1, false, {}});
  Linear lane = define("", {lanes - 1, 1, 1, true, {}});
  unit_ = first + lane;
  return indices.position(nest.space, unit_);
}

/// Every element, line by line.
Index NestBody::line_index(Index& of_result) {
  const Shape result = nest.space.without(nest.axis);
  const Linear line = define("line", {std::max<std::int64_t>(lines - 1, 0), 1, 1, false, {}});
  const Linear along = define("along", {std::max<std::int64_t>(length - 1, 0), 1, 2, false, {}});
  of_result = indices.position(result, line);
  return insert_axis(of_result, nest.axis, along);
}

void NestBody::resolve() {
  // Where there is one line, its total is the element 0 on every axis.
  Index of_result(static_cast<std::size_t>(std::max(nest.space.rank() - 1, 0)));
  const bool flat = pattern == Pattern::Each || pattern == Pattern::ReduceAll;
  const Index index = flat ? each_index() : line_index(of_result);
  if (nest.kind == NestKind::Map) return add_roots(nest.roots, index);
  add_roots(nest.also, index);
  for (NodeId root : nest.roots) add_total(root, index, nest.kind == NestKind::CumSum ? index : of_result);
}

void NestBody::add_roots(const std::vector<NodeId>& roots, const Index& index) {
  for (NodeId root : roots) {
    const int element = elements.value(root, index);
    for (const Store& store : frame_.kernel.stores) {
      if (store.node == root) stores.push_back(stored(store, element, index));
    }
  }
}

void NestBody::add_total(NodeId root, const Index& index, const Index& of_result) {
  Total total;
  total.root = root;
  total.element = elements.value(frame_.unit.graph[root].operands[0], index);
  elements.use(total.element);
  for (const Store& store : frame_.kernel.stores) {
    if (store.node == root) total.stores.push_back(stored(store, -1, of_result));
  }
  totals.push_back(std::move(total));
}

StoredElement NestBody::stored(const Store& store, int element, const Index& index) {
  StoredElement result;
  result.store = &store;
  result.element = element;
  if (element >= 0) elements.use(element);
  Index place = index;
  if (!place.empty()) {
    auto& at = place[static_cast<std::size_t>(store.axis)];
    at = at + Linear(store.begin);
  }
  result.at = indices.flat(frame_.unit.buffer(store.buffer).shape, place);
  elements.check_lanes(result.at);
  if (store.when_masked == WhenMasked::Hold && element >= 0) {
    result.hold = elements.memory(store.hold, result.at, false, {});
    elements.use(result.hold);
  } else if (store.when_masked == WhenMasked::Hold) {
    elements.note_read(store.hold);
  }
  return result;
}

Pattern choose_pattern(const Nest& nest, int threads) {
  if (nest.kind == NestKind::Map) return Pattern::Each;
  const std::int64_t length = nest.space[nest.axis].size;
  const std::int64_t lines = length == 0 ? 0 : nest.space.count() / length;
  if (nest.kind == NestKind::CumSum) {
    return length > kShortLine && lines < kShortLine ? Pattern::SumTogether : Pattern::SumLines;
  }
  const bool lines_are_contiguous = nest.axis == nest.space.rank() - 1;
  if (lines == 1) return Pattern::ReduceAll;
  return lines_are_contiguous || lines > threads / 2 ? Pattern::ReduceLines : Pattern::ReduceSlices;
}

std::unique_ptr<NestBody> resolve_nest(const KernelFrame& frame, const Nest& nest, Pattern pattern, int widest) {
  const bool has_lanes = (pattern == Pattern::Each || pattern == Pattern::ReduceAll) && nest.space.rank() > 0;
  const std::int64_t last = nest.space.rank() > 0 ? nest.space[nest.space.rank() - 1].size : 1;
  for (int lanes = has_lanes ? widest : 1; lanes > 1; lanes /= 2) {
    if (last % lanes != 0) continue;
    auto body = std::make_unique<NestBody>(frame, nest, pattern, lanes);
    if (body->elements.is_regular()) return body;
  }
  return std::make_unique<NestBody>(frame, nest, pattern, 1);
}

}  // namespace cellfuse::cuda
