// A loop over time inside out: for each sample and each few vectors of units, all steps, the state in registers.

#include <algorithm>

#include "codegen/cpu/kernel.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

/// Vectors that walk through time side by side: enough for each to hide the latency of the others.
constexpr std::int64_t kAbreast = 4;

bool stores_next(const TimeLoop& loop, const Store& store) {
  return std::ranges::any_of(loop.carried, [&](const Carried& carried) { return carried.buffers[1] == store.buffer; });
}

const Kernel& only_kernel(const TimeLoop& loop) {
  const bool one = loop.body.size() == 1 && std::holds_alternative<Kernel>(loop.body[0]);
  if (!one || std::get<Kernel>(loop.body[0]).nests.size() != 1 ||
      std::get<Kernel>(loop.body[0]).nests[0].kind != NestKind::Map) {
    throw InternalError("codegen/cpu", "loop " + loop.name + ": a scan needs a body of one kernel with one map");
  }
  return std::get<Kernel>(loop.body[0]);
}

}  // namespace

llvm::Function* KernelEmitter::emit_scan(Unit& unit, const TimeLoop& loop, const std::string& name) {
  const Kernel& kernel = only_kernel(loop);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(unit.context()), {unit.pointer()}, false);
  llvm::Function* function = unit.function(name, type, true);
  function->getArg(0)->setName("frame");
  KernelEmitter emitter(unit, kernel, function);
  for (const Carried& carried : loop.carried) {
    if (carried.leaf != kNoNode) emitter.elements_.forbid_loads(carried.leaf);
  }
  emitter.elements_.enter_nest(kernel.nests[0]);
  emitter.scan_samples(loop);
  emitter.scopes_.at(0).CreateRetVoid();
  return function;
}

const Store& KernelEmitter::next_store(const Carried& carried) const {
  const auto store = std::ranges::find(kernel_.stores, carried.buffers[1], &Store::buffer);
  if (store == kernel_.stores.end()) elements_.fail(carried.next, "the next state is not stored");
  return *store;
}

const Shape& KernelEmitter::buffer_shape(const Carried& carried) const {
  return unit_.plan.buffers[static_cast<std::size_t>(carried.buffers[0])].shape;
}

void KernelEmitter::scan_samples(const TimeLoop& loop) {
  OpenLoop samples = scopes_.open(unit_.number(0), frame_.samples(scopes_.at(0)), 1, "sample");
  RowPlace place;
  place.sample = samples.index;
  place.sample_scope = scopes_.innermost();
  elements_.set_place(place);

  const Shape& space = kernel_.nests[0].space;
  index_.assign(static_cast<std::size_t>(space.rank()), Linear());
  over_axes(space, 0, -1, true, [&] {
    const std::int64_t size = space.rank() == 0 ? 1 : space[space.rank() - 1].size;
    if (size == 1) return scan_blocks(loop, {{Linear(), false}});
    const std::int64_t lanes = unit_.lanes;
    const std::int64_t vectors = size / lanes;
    auto blocks = [&](const Linear& first, std::int64_t count) {
      std::vector<Block> list;
      for (std::int64_t i = 0; i < count; ++i) {
        list.push_back({first + Linear(i * lanes) + indices_.lane_variable(unit_.lanes), true});
      }
      scan_blocks(loop, list);
    };
    const std::int64_t groups = vectors / kAbreast;
    if (groups == 1) {
      blocks(Linear(), kAbreast);
    } else if (groups > 1) {
      const std::int64_t stride = kAbreast * lanes;
      OpenLoop vector = scopes_.open(unit_.number(0), unit_.number(groups * stride), stride, "vector");
      blocks(indices_.loop_variable(vector.index, scopes_.innermost(), (groups - 1) * stride, stride), kAbreast);
      scopes_.close(vector);
    }
    if (vectors % kAbreast != 0) blocks(Linear(groups * kAbreast * lanes), vectors % kAbreast);
    if (size % lanes != 0) {
      scan_blocks(loop, {{Linear(vectors * lanes) + indices_.lane_variable(static_cast<int>(size % lanes)), true}});
    }
  });
  scopes_.close(samples);
}

void KernelEmitter::scan_blocks(const TimeLoop& loop, const std::vector<Block>& blocks) {
  RowPlace place = elements_.place();
  std::vector<llvm::Value*> initial;
  for (const Block& block : blocks) {
    if (!index_.empty()) index_.back() = block.position;
    for (const Carried& carried : loop.carried) {
      const Element start = elements_.load(carried.buffers[0], buffer_shape(carried), index_);
      initial.push_back(block.vector ? scopes_.splat(start) : start.value);
    }
  }
  llvm::Value* steps = frame_.steps(scopes_.at(0));
  llvm::Value* last = scopes_.at(0).CreateSub(steps, unit_.number(1));
  OpenLoop time = loop.backward ? scopes_.open(last, unit_.number(-1), -1, "step")
                                : scopes_.open(unit_.number(0), steps, 1, "step");
  place.step = time.index;
  place.step_scope = scopes_.innermost();
  elements_.set_place(place);

  std::vector<std::pair<llvm::PHINode*, llvm::Value*>> carried;
  for (llvm::Value* value : initial) carried.emplace_back(scopes_.carry(time, value, "state"), nullptr);
  std::size_t next = 0;
  for (const Block& block : blocks) {
    if (!index_.empty()) index_.back() = block.position;
    for (const Carried& state : loop.carried) {
      const Element element{carried[next++].first, scopes_.innermost(), block.vector};
      carried_[{state.buffers[0], index_here()}] = element;
      if (state.leaf != kNoNode) elements_.set(state.leaf, index_here(), element);
    }
  }
  const std::vector<llvm::Value*> values = scan_step(loop, blocks);
  for (std::size_t i = 0; i < carried.size(); ++i) carried[i].second = values[i];
  scopes_.close(time, carried);
  place.step = nullptr;
  elements_.set_place(place);

  next = 0;
  for (const Block& block : blocks) {
    if (!index_.empty()) index_.back() = block.position;
    for (const Carried& state : loop.carried) {
      Store store;
      store.node = next_store(state).node;
      store.buffer = state.buffers[0];
      this->store(store, {values[next++], scopes_.innermost(), block.vector}, index_, block.vector);
    }
  }
}

std::vector<llvm::Value*> KernelEmitter::scan_step(const TimeLoop& loop, const std::vector<Block>& blocks) {
  std::vector<llvm::Value*> next;
  for (const Block& block : blocks) {
    if (!index_.empty()) index_.back() = block.position;
    for (const Carried& carried : loop.carried) {
      const Store& store = next_store(carried);
      llvm::Value* value = elements_.value(store.node, index_here(), block.vector);
      next.push_back(masked(store, value, place_of(store, index_), block.vector));
    }
    for (const Store& each : kernel_.stores) {
      if (stores_next(loop, each)) continue;
      store(each, elements_.at(each.node, index_here()), index_, block.vector);
    }
  }
  return next;
}

}  // namespace cellfuse::cpu
