#include "passes/partition_stages.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "passes/places.h"
#include "passes/plan_buffers.h"

namespace cellfuse {

namespace {

constexpr Place::Section kSections[] = {Place::Once,  Place::Begin, Place::Before, Place::Step,
                                        Place::After, Place::End,   Place::Finish};

std::string section_name(Place::Section section) {
  constexpr const char* kNames[] = {"once", "begin", "before", "step", "after", "end", "finish"};
  return kNames[section];
}

class Partition {
 public:
  Partition(const Sequence& sequence, const PlanOptions& options)
      : sequence_(sequence),
        options_(options),
        sinks_(find_sinks(sequence_)),
        values_(materialise(sequence_, sinks_, options.dtype, !options.fuse)),
        buffers_(sequence_, values_, options.dtype) {}

  Plan run() {
    gather_stores();
    Plan plan;
    plan.name = sequence_.cell.name;
    plan.target = options_.target;
    plan.dtype = options_.dtype;
    for (std::size_t loop = 0; loop < sequence_.loops.size(); ++loop) {
      auto index = static_cast<int>(loop);
      for (Place::Section section : kSections) {
        bool of_loop = Place{index, section}.in_chunk();
        if (!of_loop && index > 0) continue;
        std::vector<Stage> stages = stages_of({index, section});
        place_stages(plan, index, section, std::move(stages));
      }
    }
    for (const Sink& sink : sinks_) {
      if (sink.kind == Sink::Record) {
        const Shape& shape = graph()[sink.node].shape;
        plan.record.push_back({buffers_[buffers_.sink(sink)].name, shape, options_.dtype});
      }
    }
    add_record_inputs(plan);
    plan.buffers = buffers_.take();
    plan.interface = sequence_.cell;
    plan.reasons = sequence_.reasons;
    return plan;
  }

 private:
  const Graph& graph() const { return sequence_.cell.graph; }

  // What each kernel stores: by place and level, then by value.
  using StoresOf = std::map<NodeId, std::vector<Store>>;
  using Key = std::tuple<int, int, int>;  // loop, section, level

  void gather_stores() {
    for (NodeId id = 0; id < graph().size(); ++id) {
      Op op = graph()[id].op;
      if (!values_.live[id] || !values_.buffered[id] || is_gemm(op)) continue;
      Place place = place_of(sequence_, id);
      Store store{id, buffers_.home(id)};
      if (place.in_chunk() && values_.operand[id]) store.when_masked = WhenMasked::Zero;
      add_store(place, values_.level[id], id, store);
    }
    for (const Sink& sink : sinks_) {
      NodeId base = behind_views(graph(), sink.node);
      int level = place_of(sequence_, base) == sink.place ? values_.level[base] : 0;
      bool here = place_of(sequence_, sink.node) == sink.place && !is_source(graph(), sink.node) && sink.node == base;
      if (!options_.fuse && !here) ++level;
      add_store(sink.place, level, sink.node, store_for(sink));
    }
  }

  Store store_for(const Sink& sink) {
    Store store{sink.node, buffers_.sink(sink)};
    switch (sink.kind) {
      case Sink::Output:
      case Sink::Record: store.when_masked = WhenMasked::Zero; break;
      case Sink::NextState:
        store.when_masked = WhenMasked::Hold;
        store.hold = buffers_.state(sink.index, 0);
        break;
      case Sink::Sum:
        store.mode = StoreMode::Add;
        if (sink.place.in_chunk()) store.when_masked = WhenMasked::Zero;
        break;
      default: break;
    }
    return store;
  }

  /// A Concat that is made by this kernel is stored part by part.
  void add_store(Place place, int level, NodeId root, const Store& store) {
    StoresOf& stores = stores_[{place.loop, place.section, level}];
    const Node& node = graph()[store.node];
    bool made_here = place_of(sequence_, store.node) == place && values_.level[store.node] == level;
    if (node.op != Op::Concat || !made_here) {
      stores[root].push_back(store);
      return;
    }
    std::int64_t begin = 0;
    for (NodeId operand : node.operands) {
      Store part = store;
      part.node = operand;
      part.axis = static_cast<int>(node.axis);
      part.begin = begin;
      begin += graph()[operand].shape[node.axis].size;
      stores[root].push_back(part);
    }
  }

  std::vector<Stage> stages_of(Place place) {
    int last = -1;
    for (const auto& [key, stores] : stores_) {
      if (std::get<0>(key) == place.loop && std::get<1>(key) == place.section) last = std::max(last, std::get<2>(key));
    }
    std::vector<NodeId> gemms;
    for (NodeId id = 0; id < graph().size(); ++id) {
      if (!values_.live[id] || !is_gemm(graph()[id].op) || place_of(sequence_, id) != place) continue;
      gemms.push_back(id);
      last = std::max(last, values_.level[id] - 1);
    }
    std::vector<Stage> stages;
    for (int level = 0; level <= last; ++level) {
      add_kernels(stages, place, level);
      for (NodeId id : gemms) {
        if (values_.level[id] - 1 != level) continue;
        if (place.section == Place::Step && options_.target.blocks > 1) {
          stages.emplace_back(Exchange{graph()[id].operands[0]});
        }
        stages.emplace_back(gemm_for(id));
      }
    }
    return stages;
  }

  void add_kernels(std::vector<Stage>& stages, Place place, int level) {
    auto it = stores_.find({place.loop, place.section, level});
    if (it == stores_.end()) return;
    std::vector<Kernel> kernels;
    for (const auto& [root, stores] : it->second) {
      if (kernels.empty() || !options_.fuse) kernels.emplace_back();
      std::vector<Store>& list = kernels.back().stores;
      list.insert(list.end(), stores.begin(), stores.end());
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      Kernel& kernel = kernels[i];
      kernel.name = section_name(place.section) + "_" + std::to_string(level);
      if (kernels.size() > 1) kernel.name += "_" + std::to_string(i);
      kernel.domain = place.in_chunk() ? Domain::Step : domain_of_rows(place.section);
      find_loads(kernel, place, level);
      stages.emplace_back(std::move(kernel));
    }
  }

  static Domain domain_of_rows(Place::Section section) {
    return section == Place::Begin || section == Place::End ? Domain::Sample : Domain::Once;
  }

  void find_loads(Kernel& kernel, Place place, int level) {
    std::vector<bool> seen(graph().size(), false);
    std::vector<NodeId> stack;
    stack.reserve(kernel.stores.size());
    for (const Store& store : kernel.stores) stack.push_back(store.node);
    while (!stack.empty()) {
      NodeId id = stack.back();
      stack.pop_back();
      if (seen[id]) continue;
      seen[id] = true;
      const Node& node = graph()[id];
      if (node.op == Op::Constant || node.op == Op::Iota) continue;
      bool here = place_of(sequence_, id) == place && values_.level[id] == level;
      bool stored_before = is_gemm(node.op) || node.op == Op::Accumulate || (values_.buffered[id] && !here);
      if (is_source(graph(), id)) {
        kernel.loads.push_back(load_of_source(id, place, here));
      } else if (stored_before) {
        kernel.loads.push_back({id, buffers_.home(id)});
      } else {
        if (values_.buffered[id])
          kernel.loads.push_back({id, buffers_.home(id)});  // for the nests after the one that makes it
        stack.insert(stack.end(), node.operands.begin(), node.operands.end());
      }
    }
    std::sort(kernel.loads.begin(), kernel.loads.end(), [](const Load& a, const Load& b) { return a.node < b.node; });
  }

  Load load_of_source(NodeId id, Place place, bool here) {
    bool copied = values_.buffered[id] && !here && place.section != Place::Step;
    Load load{id, copied ? buffers_.home(id) : buffers_.source(id)};
    load.zero_when_masked = !copied && place.in_chunk() && buffers_[load.buffer].space == Space::Input;
    return load;
  }

  Gemm gemm_for(NodeId id) {
    const Node& node = graph()[id];
    Gemm gemm;
    gemm.node = id;
    gemm.kind = node.op == Op::Linear ? GemmKind::Linear : GemmKind::Outer;
    gemm.a = buffers_.gemm_operand(node.operands[0]);
    gemm.b = buffers_.gemm_operand(node.operands[1]);
    gemm.c = buffers_.home(id);
    gemm.contract_rows = node.flag;
    gemm.accumulate = gemm.kind == GemmKind::Outer;
    const Shape& a = graph()[node.operands[0]].shape;
    gemm.rows_per_unit = a.rank() == 2 ? a[0].size : 1;
    const Shape& c = node.shape;
    gemm.n = gemm.kind == GemmKind::Linear ? c[c.rank() - 1].size : c[0].size;
    gemm.k = gemm.kind == GemmKind::Linear ? a[a.rank() - 1].size : c[1].size;
    gemm.name = buffers_[gemm.c].name;
    gemm.reason = "library call on operands as they lie";
    return gemm;
  }

  void place_stages(Plan& plan, int loop, Place::Section section, std::vector<Stage> stages) {
    std::vector<Stage>* list = nullptr;
    switch (section) {
      case Place::Once: list = &plan.once; break;
      case Place::Begin: list = &plan.begin; break;
      case Place::End: list = &plan.end; break;
      case Place::Finish: list = &plan.finish; break;
      case Place::Before:
      case Place::After: list = &plan.chunk; break;
      case Place::Step: plan.chunk.emplace_back(make_loop(loop, std::move(stages))); return;
    }
    std::move(stages.begin(), stages.end(), std::back_inserter(*list));
  }

  TimeLoop make_loop(int index, std::vector<Stage> body) {
    const Loop& loop = sequence_.loops[static_cast<std::size_t>(index)];
    TimeLoop result;
    result.name = loop.name;
    result.backward = loop.backward;
    result.body = std::move(body);
    result.split.groups = options_.target.threads;
    for (int state : loop.states) {
      Carried carried;
      carried.state = state;
      carried.next = sequence_.cell.states[static_cast<std::size_t>(state)].next;
      carried.buffers[0] = buffers_.state(state, 0);
      carried.buffers[1] = buffers_.state(state, 1);
      for (NodeId id = 0; id < graph().size(); ++id) {
        if (graph()[id].op == Op::State && graph()[id].index == state) carried.leaf = id;
      }
      result.carried.push_back(carried);
    }
    return result;
  }

  void add_record_inputs(Plan& plan) const {
    for (const CellInput& input : sequence_.cell.inputs) {
      if (input.role == InputRole::Record) plan.record.push_back({input.name, input.shape, options_.dtype});
    }
  }

  Sequence sequence_;
  PlanOptions options_;
  std::vector<Sink> sinks_;
  Materialisation values_;
  PlanBuffers buffers_;
  std::map<Key, StoresOf> stores_;
};

}  // namespace

Plan partition_stages(const Sequence& sequence, const PlanOptions& options) {
  return Partition(sequence, options).run();
}

int gemm_levels(const TimeLoop& loop) {
  int levels = 0;
  bool in_gemms = false;
  for (const Stage& stage : loop.body) {
    bool gemm = std::holds_alternative<Gemm>(stage);
    if (gemm && !in_gemms) ++levels;
    if (!std::holds_alternative<Exchange>(stage)) in_gemms = gemm;
  }
  return levels;
}

}  // namespace cellfuse
