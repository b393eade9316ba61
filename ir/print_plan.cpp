#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/plan.h"
#include "ir/print_node.h"

namespace cellfuse {

namespace {

std::string axes_of(const Buffer& buffer) {
  std::string text = "[";
  if (buffer.time) text += "time, ";
  if (buffer.batch) text += "batch, ";
  for (int axis = 0; axis < buffer.shape.rank(); ++axis) text += buffer.shape[axis].dim.str() + ", ";
  if (text.size() > 1) text.resize(text.size() - 2);
  return text + "]";
}

std::string_view element_of(const Buffer& buffer) {
  if (buffer.space == Space::Live || buffer.space == Space::Reset) return "byte";
  return buffer.space == Space::StepIndex ? "int32" : info(buffer.dtype).name;
}

void add_stored(const std::vector<Stage>& stages, std::vector<NodeId>& values) {
  for (const Stage& stage : stages) {
    if (const auto* kernel = std::get_if<Kernel>(&stage)) {
      for (const Store& store : kernel->stores) values.push_back(store.node);
    } else if (const auto* loop = std::get_if<TimeLoop>(&stage)) {
      add_stored(loop->body, values);
    }
  }
}

/// What the roots of the interface need, and what kernels store beside.
std::vector<NodeId> stored_values(const Plan& plan) {
  std::vector<NodeId> values = plan.interface.roots();
  for (const auto* stages : {&plan.once, &plan.begin, &plan.chunk, &plan.end, &plan.finish})
    add_stored(*stages, values);
  return values;
}

class PlanPrinter {
 public:
  explicit PlanPrinter(const Plan& plan)
      : plan_(plan),
        graph_(plan.interface.graph),
        names_(plan.interface, reachable(plan.interface.graph, stored_values(plan))) {}

  std::string run() {
    text_ = fmt::format("plan {} for {}, {}\n", plan_.name, plan_.target.name, info(plan_.dtype).name);
    buffers();
    section("once", plan_.once);
    section("begin, for each batch group", plan_.begin);
    section("chunk of steps", plan_.chunk);
    section("end, for each batch group", plan_.end);
    section("finish", plan_.finish);
    for (const Candidate& candidate : plan_.candidates) {
      text_ += fmt::format("candidate {}: {}", name(candidate.strategy), candidate.reason);
      if (candidate.feasible) text_ += fmt::format(" (model: {:.3g} us a step)", candidate.seconds_per_step * 1e6);
      text_ += candidate.feasible ? "\n" : " (does not apply)\n";
    }
    return std::move(text_);
  }

 private:
  void buffers() {
    text_ += "buffers\n";
    for (const Buffer& buffer : plan_.buffers) {
      if (buffer.last_use < 0) continue;
      text_ += fmt::format("  {:<20} {:<13} {:<24} {}", buffer.name, name(buffer.space), axes_of(buffer),
                           element_of(buffer));
      if (buffer.order == Order::Panels) text_ += fmt::format(", panels of {}", buffer.panel);
      if (buffer.order == Order::Transposed) text_ += ", transposed";
      bool placed = buffer.space == Space::Workspace || buffer.space == Space::Scratch;
      if (placed) text_ += fmt::format(" at {}, stages {} to {}", buffer.offset, buffer.first_use, buffer.last_use);
      text_ += "\n";
    }
    const Arena& arena = plan_.arena;
    text_ += fmt::format("workspace {} bytes + {} a sample + {} a sample and step of a chunk; scratch {} a thread\n",
                         arena.once, arena.per_sample, arena.per_step, arena.scratch);
  }

  void section(std::string_view title, const std::vector<Stage>& stages) {
    if (stages.empty()) return;
    text_ += fmt::format("{}\n", title);
    list(stages, "  ");
  }

  void list(const std::vector<Stage>& stages, const std::string& indent) {
    for (const Stage& stage : stages) {
      std::visit([&](const auto& s) { show(s, indent); }, stage);
    }
  }

  const std::string& buffer(int id) const { return plan_.buffers[static_cast<std::size_t>(id)].name; }

  void show(const Pack& pack, const std::string& indent) {
    text_ += fmt::format("{}pack {} -> {}\n", indent, buffer(pack.from), buffer(pack.to));
  }

  void show(const Exchange& exchange, const std::string& indent) {
    text_ += fmt::format("{}exchange {}: owned -> gathered\n", indent, names_[exchange.value]);
  }

  void show(const Gemm& gemm, const std::string& indent) {
    bool linear = gemm.kind == GemmKind::Linear;
    std::string right = linear && !gemm.contract_rows ? buffer(gemm.b) + "^T" : buffer(gemm.b);
    std::string left = linear ? buffer(gemm.a) : buffer(gemm.a) + "^T";
    text_ += fmt::format("{}gemm {} {} {} @ {}  # n {}, k {}; {}\n", indent, buffer(gemm.c),
                         gemm.accumulate ? "+=" : "=", left, right, gemm.n, gemm.k, gemm.reason);
  }

  void show(const TimeLoop& loop, const std::string& indent) {
    text_ += fmt::format("{}loop {}, {}, {}\n", indent, loop.name,
                         loop.backward ? "last step first" : "first step first", name(loop.strategy));
    for (const Carried& carried : loop.carried) {
      text_ += fmt::format("{}  carry {} -> {}\n", indent, buffer(carried.buffers[0]), buffer(carried.buffers[1]));
    }
    in_loop_ = true;
    list(loop.body, indent + "  ");
    in_loop_ = false;
  }

  void show(const Kernel& kernel, const std::string& indent) {
    std::string_view rows = kernel.domain == Domain::Once ? "once" : "for each sample";
    if (kernel.domain == Domain::Step && !in_loop_) rows = "for each sample and step";
    text_ += fmt::format("{}kernel {}, {}\n", indent, kernel.name, rows);
    for (const Load& load : kernel.loads) {
      if (plan_.buffers[static_cast<std::size_t>(load.buffer)].space == Space::Scratch) continue;
      text_ += fmt::format("{}  load  {} from {}{}\n", indent, names_[load.node], buffer(load.buffer),
                           load.zero_when_masked ? ", 0 when masked" : "");
    }
    for (const Nest& nest : kernel.nests) show(kernel, nest, indent + "  ");
  }

  void show(const Kernel& kernel, const Nest& nest, const std::string& indent) {
    constexpr std::string_view kKinds[] = {"map", "reduce", "cumsum"};
    text_ += fmt::format("{}{} {}", indent, kKinds[static_cast<std::size_t>(nest.kind)], nest.space.str());
    text_ += nest.kind == NestKind::Map ? "\n" : fmt::format(" along axis {}\n", nest.axis);
    std::set<NodeId> roots(nest.roots.begin(), nest.roots.end());
    roots.insert(nest.also.begin(), nest.also.end());
    for (NodeId id : computed(kernel, roots)) {
      if (!names_.is_inline(id)) text_ += fmt::format("{}  {}\n", indent, names_.definition(id));
    }
    for (const Store& store : kernel.stores) {
      if (roots.contains(store.node)) show(store, indent);
    }
  }

  void show(const Store& store, const std::string& indent) {
    const Buffer& to = plan_.buffers[static_cast<std::size_t>(store.buffer)];
    const Shape& shape = graph_[store.node].shape;
    std::string part;
    if (shape.rank() > 0 && shape.rank() == to.shape.rank() && !(shape[store.axis] == to.shape[store.axis])) {
      part = fmt::format("[{}{}:{}]", store.axis == 0 ? "" : ":, ", store.begin, store.begin + shape[store.axis].size);
    }
    std::string masked;
    if (store.when_masked == WhenMasked::Zero)
      masked = store.mode == StoreMode::Add ? ", nothing when masked" : ", 0 when masked";
    if (store.when_masked == WhenMasked::Hold) masked = fmt::format(", {} when masked", buffer(store.hold));
    text_ += fmt::format("{}  store {}{} {} {}{}\n", indent, to.name, part, store.mode == StoreMode::Add ? "+=" : "=",
                         names_[store.node], masked);
  }

  /// What a nest computes, operands first.
  std::set<NodeId> computed(const Kernel& kernel, const std::set<NodeId>& roots) const {
    std::set<NodeId> loaded;
    for (const Load& load : kernel.loads) loaded.insert(load.node);
    std::set<NodeId> found;
    std::vector<NodeId> stack(roots.begin(), roots.end());
    while (!stack.empty()) {
      NodeId id = stack.back();
      stack.pop_back();
      bool read = loaded.contains(id) && !(roots.contains(id) && in_scratch(kernel, id));
      if (read || !found.insert(id).second) continue;
      stack.insert(stack.end(), graph_[id].operands.begin(), graph_[id].operands.end());
    }
    return found;
  }

  static bool in_scratch(const Kernel& kernel, NodeId id) {
    return std::any_of(kernel.loads.begin(), kernel.loads.end(), [&](const Load& load) {
      return load.node == id && std::any_of(kernel.stores.begin(), kernel.stores.end(),
                                            [&](const Store& store) { return store.buffer == load.buffer; });
    });
  }

  const Plan& plan_;
  const Graph& graph_;
  ValueNames names_;
  std::string text_;
  bool in_loop_ = false;
};

}  // namespace

std::string print(const Plan& plan) { return PlanPrinter(plan).run(); }

}  // namespace cellfuse
