#include "passes/fuse.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/diagnostic.h"
#include "passes/places.h"

namespace cellfuse {

namespace {

/// Work (in cheap operations) above which a value is kept rather than computed again in another nest.
constexpr int kWorthKeeping = 8;

/// Forms the nests of one kernel. An *anchor* is a value that a nest stores; everything else is computed where it is
/// used.
class KernelFuser {
 public:
  KernelFuser(const Graph& graph, std::vector<Buffer>& buffers, Kernel& kernel, DType compute)
      : graph_(graph), buffers_(buffers), kernel_(kernel), compute_(compute) {
    std::set<int> stored;
    for (const Store& store : kernel.stores) stored.insert(store.buffer);
    for (const Load& load : kernel.loads) {
      (stored.contains(load.buffer) ? made_here_ : available_).insert(load.node);
    }
  }

  void run() {
    find_computed();
    find_anchors();
    assign_nests();
    while (keep_shared_work()) assign_nests();
    add_scratch();
    kernel_.nests = std::move(nests_);
    for (Nest& nest : kernel_.nests) {
      std::sort(nest.roots.begin(), nest.roots.end());
      std::sort(nest.also.begin(), nest.also.end());
    }
  }

 private:
  bool is_available(NodeId id) const { return available_.contains(id); }
  /// A Concat that later nests read is complete when its parts are stored.
  bool is_assembled(NodeId id) const { return graph_[id].op == Op::Concat; }
  bool stops(NodeId id) const { return is_available(id) || anchors_.contains(id) || is_assembled(id); }

  void find_computed() {
    std::vector<NodeId> stack;
    stack.reserve(kernel_.stores.size());
    for (const Store& store : kernel_.stores) stack.push_back(store.node);
    std::set<NodeId> seen;
    while (!stack.empty()) {
      NodeId id = stack.back();
      stack.pop_back();
      if (!seen.insert(id).second || is_available(id)) continue;
      computed_.insert(id);
      const std::vector<NodeId>& operands = graph_[id].operands;
      stack.insert(stack.end(), operands.begin(), operands.end());
    }
  }

  void find_anchors() {
    for (const Store& store : kernel_.stores) anchors_.insert(store.node);
    std::map<NodeId, int> uses;
    for (NodeId id : computed_) {
      for (NodeId operand : graph_[id].operands) ++uses[behind_views(graph_, operand)];
    }
    for (NodeId id : computed_) {
      const Node& node = graph_[id];
      if (is_reduction(node.op) || node.op == Op::CumSum) anchors_.insert(id);
      if (!is_index_view(node.op)) continue;
      NodeId base = behind_views(graph_, id);
      bool trifle = !computed_.contains(base) || is_leaf(graph_[base].op) || is_assembled(base);
      if (trifle && graph_[base].op != Op::Random) continue;
      bool expands = node.op == Op::Broadcast && node.shape.count() > graph_[node.operands[0]].shape.count();
      bool moves = node.op == Op::Transpose || node.op == Op::Reshape;
      bool overlaps = node.op == Op::Slice && uses[base] > 1 && cost(graph_[base].op) >= Cost::Costly;
      if (computed_.contains(base) && (expands || moves || overlaps)) anchors_.insert(base);
    }
    for (NodeId id : computed_) {
      if (is_assembled(id)) anchors_.erase(id);
    }
  }

  struct Dependence {
    NodeId node;
    bool aligned;            ///< read only at the index that the nest is at
    bool of_concat = false;  ///< read through the Concat it is a part of, not by itself
  };

  /// What nests must have been stored before `anchor` can be computed; `inlined` collects what is computed on the way.
  std::vector<Dependence> dependences(NodeId anchor, std::set<NodeId>* inlined) const {
    std::vector<Dependence> found;
    std::set<std::pair<NodeId, bool>> seen;
    std::vector<std::pair<NodeId, bool>> stack;
    if (is_available(anchor)) return found;
    auto push_operands = [&](NodeId id, bool aligned) {
      bool keeps_index = is_elementwise(graph_[id].op) || is_reduction(graph_[id].op) || graph_[id].op == Op::CumSum;
      for (NodeId operand : graph_[id].operands) stack.emplace_back(operand, aligned && keeps_index);
    };
    push_operands(anchor, graph_[anchor].op != Op::CumSum);
    while (!stack.empty()) {
      auto [id, aligned] = stack.back();
      stack.pop_back();
      if (!seen.emplace(id, aligned).second || is_available(id)) continue;
      if (is_assembled(id)) {
        for (NodeId part : graph_[id].operands) found.push_back({part, false, true});
      } else if (anchors_.contains(id)) {
        found.push_back({id, aligned});
      } else {
        if (inlined != nullptr) inlined->insert(id);
        push_operands(id, aligned);
      }
    }
    return found;
  }

  NestKind kind_of(NodeId id) const {
    if (is_available(id)) return NestKind::Map;
    if (is_reduction(graph_[id].op)) return NestKind::Reduce;
    return graph_[id].op == Op::CumSum ? NestKind::CumSum : NestKind::Map;
  }

  void assign_nests() {
    nests_.clear();
    nest_of_.clear();
    for (NodeId id : anchors_) {  // ascending: operands first
      int first = 0;
      NestKind kind = kind_of(id);
      Shape space = kind == NestKind::Map ? graph_[id].shape : graph_[graph_[id].operands[0]].shape;
      for (const Dependence& dependence : dependences(id, nullptr)) {
        auto it = nest_of_.find(dependence.node);
        if (it == nest_of_.end()) continue;  // an available part of a Concat
        const Nest& nest = nests_[static_cast<std::size_t>(it->second)];
        bool here = dependence.aligned && kind_of(dependence.node) == NestKind::Map && nest.space == space;
        first = std::max(first, it->second + (here ? 0 : 1));
      }
      nest_of_[id] = join(id, kind, space, first);
    }
  }

  /// Puts an anchor into the first nest from `first` on that fits, or into a new one.
  int join(NodeId id, NestKind kind, const Shape& space, int first) {
    std::int8_t axis = graph_[id].axis;
    for (auto i = static_cast<std::size_t>(first); i < nests_.size(); ++i) {
      Nest& nest = nests_[i];
      if (!(nest.space == space)) continue;
      if (kind == NestKind::CumSum || nest.kind == NestKind::CumSum) {
        bool same = kind == nest.kind && nest.axis == axis && graph_[nest.roots[0]].flag == graph_[id].flag;
        if (!same) continue;
        nest.roots.push_back(id);
      } else if (kind == NestKind::Reduce) {
        if (nest.kind == NestKind::Reduce && nest.axis != axis) continue;
        if (nest.kind == NestKind::Map) {
          nest.kind = NestKind::Reduce;
          nest.axis = static_cast<int>(axis);
          nest.also = std::move(nest.roots);
          nest.roots.clear();
        }
        nest.roots.push_back(id);
      } else {
        (nest.kind == NestKind::Reduce ? nest.also : nest.roots).push_back(id);
      }
      return static_cast<int>(i);
    }
    Nest nest;
    nest.kind = kind;
    nest.space = space;
    nest.axis = kind == NestKind::Map ? 0 : static_cast<int>(axis);
    nest.roots = {id};
    nests_.push_back(std::move(nest));
    return static_cast<int>(nests_.size()) - 1;
  }

  /// Makes anchors of costly values that several nests would compute. True when there were any.
  bool keep_shared_work() {
    std::map<NodeId, int> first_nest;
    std::set<NodeId> shared;
    for (NodeId anchor : anchors_) {
      std::set<NodeId> inlined;
      dependences(anchor, &inlined);
      for (NodeId id : inlined) {
        if (is_index_view(graph_[id].op) || is_source(graph_, id)) continue;
        auto [it, fresh] = first_nest.try_emplace(id, nest_of_[anchor]);
        if (!fresh && it->second != nest_of_[anchor]) shared.insert(id);
      }
    }
    std::map<NodeId, int> work;
    bool changed = false;
    for (NodeId id : computed_) {
      if (stops(id)) continue;
      int total = cost(graph_[id].op) >= Cost::Costly ? kWorthKeeping : (cost(graph_[id].op) == Cost::Cheap ? 1 : 0);
      for (NodeId operand : graph_[id].operands) {
        auto it = work.find(operand);
        if (it != work.end()) total = std::min(total + it->second, kWorthKeeping);
      }
      if (shared.contains(id) && total >= kWorthKeeping) {
        anchors_.insert(id);
        changed = true;
        total = 0;
      }
      work[id] = total;
    }
    return changed;
  }

  void add_scratch() {
    std::set<NodeId> stored;
    for (const Store& store : kernel_.stores) stored.insert(store.node);
    const std::set<NodeId> read_back = read_by_other_nests();
    int number = 0;
    for (NodeId id : anchors_) {
      if (made_here_.contains(id) || is_available(id)) continue;
      if (stored.contains(id) && !read_back.contains(id)) continue;
      Buffer buffer;
      const std::string& user = graph_.name(id);
      buffer.name =
          kernel_.name + "." + (user.empty() ? std::string(name(graph_[id].op)) + std::to_string(number++) : user);
      buffer.space = Space::Scratch;
      buffer.dtype = compute_;
      buffer.shape = graph_[id].shape;
      auto index = static_cast<int>(buffers_.size());
      buffers_.push_back(std::move(buffer));
      kernel_.stores.push_back({id, index});
      kernel_.loads.push_back({id, index});
    }
    std::sort(kernel_.loads.begin(), kernel_.loads.end(), [](const Load& a, const Load& b) { return a.node < b.node; });
  }

  std::set<NodeId> read_by_other_nests() const {
    std::set<NodeId> found;
    for (NodeId anchor : anchors_) {
      for (const Dependence& dependence : dependences(anchor, nullptr)) {
        if (!anchors_.contains(dependence.node) || dependence.of_concat) continue;
        bool same_nest = nest_of_.at(anchor) == nest_of_.at(dependence.node);
        if (!same_nest || !dependence.aligned) found.insert(dependence.node);
      }
    }
    return found;
  }

  const Graph& graph_;
  std::vector<Buffer>& buffers_;
  Kernel& kernel_;
  DType compute_;
  std::set<NodeId> available_;
  std::set<NodeId> made_here_;
  std::set<NodeId> computed_;
  std::set<NodeId> anchors_;
  std::vector<Nest> nests_;
  std::map<NodeId, int> nest_of_;
};

void fuse_stages(Plan& plan, std::vector<Stage>& stages) {
  for (Stage& stage : stages) {
    if (auto* kernel = std::get_if<Kernel>(&stage)) {
      KernelFuser(plan.interface.graph, plan.buffers, *kernel, info(plan.dtype).compute).run();
    } else if (auto* loop = std::get_if<TimeLoop>(&stage)) {
      fuse_stages(plan, loop->body);
    }
  }
}

}  // namespace

Plan fuse(Plan plan) {
  for (std::vector<Stage>* stages : {&plan.once, &plan.begin, &plan.chunk, &plan.end, &plan.finish})
    fuse_stages(plan, *stages);
  return plan;
}

}  // namespace cellfuse
