#include "ir/interpret_plan.h"

#include <algorithm>
#include <set>

#include "ir/diagnostic.h"
#include "ir/evaluate.h"

namespace cellfuse {

namespace {

class PlanInterpreter {
 public:
  PlanInterpreter(const Plan& plan, const RunArguments& arguments, std::int64_t chunk_steps)
      : plan_(plan),
        graph_(plan.interface.graph),
        arguments_(arguments),
        chunk_(chunk_steps > 0 ? chunk_steps : std::max<std::int64_t>(arguments.steps, 1)),
        step_indices_(step_indices(arguments)),
        values_(plan.interface.graph.size()) {
    allocate();
  }

  RunResults run() {
    run_stages(plan_.once);
    run_stages(plan_.begin);
    std::int64_t chunks = (arguments_.steps + chunk_ - 1) / chunk_;
    for (std::int64_t i = 0; i < chunks; ++i) {
      begin_ = (plan_.interface.backward ? chunks - 1 - i : i) * chunk_;
      length_ = std::min(chunk_, arguments_.steps - begin_);
      run_stages(plan_.chunk);
    }
    run_stages(plan_.end);
    run_stages(plan_.finish);
    return std::move(results_);
  }

 private:
  std::size_t bytes_per_element() const { return info(info(plan_.dtype).compute).bytes; }
  std::size_t elements(std::int64_t bytes) const { return static_cast<std::size_t>(bytes) / bytes_per_element(); }

  void allocate();
  double* base(const Buffer& buffer, std::int64_t step);
  double* row(int index, std::int64_t step, std::int64_t sample);
  std::int64_t data_step(std::int64_t step) const;
  bool is_live(std::int64_t step, std::int64_t sample) const;

  void run_stages(const std::vector<Stage>& stages);
  void run(const Exchange&) {}
  void run(const Pack& pack);
  void run(const Gemm& gemm);
  void run(const TimeLoop& loop);
  void run(const Kernel& kernel);
  void run_row(const Kernel& kernel, std::int64_t step, std::int64_t sample);
  void compute(const Kernel& kernel, NodeId root, const std::set<NodeId>& roots, std::int64_t step,
               std::int64_t sample);
  void load(const Load& load, std::int64_t step, std::int64_t sample);
  void store(const Store& store, std::int64_t step, std::int64_t sample);

  const Plan& plan_;
  const Graph& graph_;
  const RunArguments& arguments_;
  std::int64_t chunk_;
  std::vector<std::int64_t> step_indices_;
  std::vector<Values> values_;   // by node: of the row at hand
  std::vector<Values> storage_;  // by buffer, for those outside the arena
  Values once_, per_sample_, per_step_, scratch_;
  std::int64_t begin_ = 0;   // first step of the chunk
  std::int64_t length_ = 0;  // steps of the chunk
  std::int64_t step_ = -1;   // of the loop, in the chunk; -1 outside
  RunResults results_;
};

void PlanInterpreter::allocate() {
  const Cell& cell = plan_.interface;
  std::int64_t batch = arguments_.batch;
  once_.assign(elements(plan_.arena.once) + 1, 0.0);
  per_sample_.assign(elements(plan_.arena.per_sample * batch) + 1, 0.0);
  per_step_.assign(elements(plan_.arena.per_step * batch * chunk_) + 1, 0.0);
  scratch_.assign(elements(plan_.arena.scratch) + 1, 0.0);
  storage_.resize(plan_.buffers.size());
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (buffer.space != Space::State && buffer.space != Space::Accumulator) continue;
    storage_[i].assign(static_cast<std::size_t>(buffer.elements() * (buffer.batch ? batch : 1)), 0.0);
  }
  auto room = [&](NodeId node, std::int64_t units) {
    return Values(static_cast<std::size_t>(graph_[node].shape.count() * units), 0.0);
  };
  for (const CellOutput& output : cell.outputs) results_.outputs.push_back(room(output.node, batch * arguments_.steps));
  for (const CellState& state : cell.states) results_.finals.push_back(room(state.next, batch));
  for (const CellResult& result : cell.results) {
    results_.results.push_back(room(result.node, graph_[result.node].domain == Domain::Once ? 1 : batch));
  }
}

std::int64_t PlanInterpreter::data_step(std::int64_t step) const {
  std::int64_t processed = begin_ + step;
  return arguments_.reverse ? arguments_.steps - 1 - processed : processed;
}

bool PlanInterpreter::is_live(std::int64_t step, std::int64_t sample) const {
  if (arguments_.live.empty()) return true;
  return arguments_.live[static_cast<std::size_t>(data_step(step) * arguments_.batch + sample)] != 0;
}

/// The elements of a buffer, or of its part that the caller's index of `step` picks.
double* PlanInterpreter::base(const Buffer& buffer, std::int64_t step) {
  auto index = static_cast<std::size_t>(buffer.index);
  std::int64_t batch = arguments_.batch;
  auto at_step = [&](Values& values) { return values.data() + data_step(step) * batch * buffer.elements(); };
  auto read_only = [](const Values& values) { return const_cast<Values*>(&values); };
  auto nth = [&](std::vector<CellOutput> const& outputs, int field) {
    std::size_t i = 0;
    for (; i < outputs.size(); ++i) {
      if (outputs[i].role == OutputRole::Record && field-- == 0) break;
    }
    return i;
  };
  switch (buffer.space) {
    case Space::Input: return at_step(*read_only(arguments_.inputs[index]));
    case Space::Output: return at_step(results_.outputs[index]);
    case Space::Param: return read_only(arguments_.params[index])->data();
    case Space::Final: return results_.finals[index].data();
    case Space::Result: return results_.results[index].data();
    case Space::Record: {
      int field = buffer.index;
      for (std::size_t i = 0; i < plan_.interface.inputs.size(); ++i) {
        if (plan_.interface.inputs[i].role == InputRole::Record && field-- == 0)
          return at_step(*read_only(arguments_.inputs[i]));
      }
      return at_step(results_.outputs[nth(plan_.interface.outputs, buffer.index)]);
    }
    case Space::Workspace: {
      std::size_t offset = elements(buffer.offset);
      if (!buffer.time)
        return buffer.batch ? per_sample_.data() + offset * static_cast<std::size_t>(batch) : once_.data() + offset;
      return per_step_.data() + offset * static_cast<std::size_t>(batch * chunk_) + step * batch * buffer.elements();
    }
    case Space::Scratch: return scratch_.data() + elements(buffer.offset);
    default: return storage_[static_cast<std::size_t>(&buffer - plan_.buffers.data())].data();
  }
}

double* PlanInterpreter::row(int index, std::int64_t step, std::int64_t sample) {
  const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(index)];
  return base(buffer, step) + (buffer.batch ? sample * buffer.elements() : 0);
}

void PlanInterpreter::run_stages(const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) {
    std::visit([&](const auto& s) { run(s); }, stage);
  }
}

void PlanInterpreter::run(const Pack& pack) {
  const Buffer& to = plan_.buffers[static_cast<std::size_t>(pack.to)];
  const Buffer& source = plan_.buffers[static_cast<std::size_t>(pack.from)];
  const double* from = base(source, 0);
  double* packed = base(to, 0);
  if (to.order == Order::RowMajor) {
    std::copy_n(from, source.elements(), packed);
    return;
  }
  if (to.order == Order::Transposed) {
    std::int64_t rows = source.shape[0].size;
    std::int64_t columns = source.shape[1].size;
    for (std::int64_t i = 0; i < rows * columns; ++i) packed[(i % columns) * rows + i / columns] = from[i];
    return;
  }
  std::int64_t n = to.shape[0].size;
  std::int64_t k = to.shape[1].size;
  std::fill_n(packed, to.elements(), 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < k; ++j) {
      packed[(i / to.panel * k + j) * to.panel + i % to.panel] = from[pack.contract_rows ? j * n + i : i * k + j];
    }
  }
}

void PlanInterpreter::run(const Gemm& gemm) {
  const Buffer& a = plan_.buffers[static_cast<std::size_t>(gemm.a)];
  const Buffer& b = plan_.buffers[static_cast<std::size_t>(gemm.b)];
  const Buffer& c = plan_.buffers[static_cast<std::size_t>(gemm.c)];
  bool linear = gemm.kind == GemmKind::Linear;
  bool by_step = a.time && step_ < 0;
  std::int64_t steps = by_step ? length_ : 1;
  std::int64_t samples = a.batch ? arguments_.batch : 1;
  auto weight = [&](const double* w, std::int64_t i, std::int64_t j) {
    if (b.order == Order::Panels) return w[(i / b.panel * gemm.k + j) * b.panel + i % b.panel];
    return w[gemm.contract_rows ? j * gemm.n + i : i * gemm.k + j];
  };
  for (std::int64_t s = 0; s < steps; ++s) {
    std::int64_t step = by_step ? s : std::max<std::int64_t>(step_, 0);
    for (std::int64_t r = 0; r < samples * gemm.rows_per_unit; ++r) {
      const double* left = base(a, step) + r * (linear ? gemm.k : gemm.n);
      const double* right = linear ? base(b, 0) : base(b, step) + r * gemm.k;
      double* out = linear ? base(c, step) + r * gemm.n : base(c, 0);
      for (std::int64_t i = 0; i < gemm.n; ++i) {
        if (!linear) {
          for (std::int64_t j = 0; j < gemm.k; ++j) out[i * gemm.k + j] += left[i] * right[j];
          continue;
        }
        double total = gemm.accumulate ? out[i] : 0.0;
        for (std::int64_t j = 0; j < gemm.k; ++j) total += left[j] * weight(right, i, j);
        out[i] = total;
      }
    }
  }
}

void PlanInterpreter::run(const TimeLoop& loop) {
  for (std::int64_t i = 0; i < length_; ++i) {
    step_ = loop.backward ? length_ - 1 - i : i;
    run_stages(loop.body);
    for (const Carried& carried : loop.carried) {
      std::swap(storage_[static_cast<std::size_t>(carried.buffers[0])],
                storage_[static_cast<std::size_t>(carried.buffers[1])]);
    }
  }
  step_ = -1;
}

void PlanInterpreter::run(const Kernel& kernel) {
  std::int64_t first = std::max<std::int64_t>(step_, 0);
  std::int64_t last = kernel.domain == Domain::Step && step_ < 0 ? length_ : first + 1;
  std::int64_t samples = kernel.domain == Domain::Once ? 1 : arguments_.batch;
  for (std::int64_t step = first; step < last; ++step) {
    for (std::int64_t sample = 0; sample < samples; ++sample) run_row(kernel, step, sample);
  }
}

void PlanInterpreter::run_row(const Kernel& kernel, std::int64_t step, std::int64_t sample) {
  for (const Nest& nest : kernel.nests) {
    for (Values& values : values_) values.clear();
    std::set<NodeId> roots(nest.roots.begin(), nest.roots.end());
    roots.insert(nest.also.begin(), nest.also.end());
    for (NodeId root : roots) compute(kernel, root, roots, step, sample);
    for (const Store& s : kernel.stores) {
      if (roots.contains(s.node)) store(s, step, sample);
    }
  }
}

void PlanInterpreter::compute(const Kernel& kernel, NodeId root, const std::set<NodeId>& roots, std::int64_t step,
                              std::int64_t sample) {
  auto load_of = [&](NodeId id) -> const Load* {
    for (const Load& load : kernel.loads) {
      if (load.node != id) continue;
      bool made_here = std::any_of(kernel.stores.begin(), kernel.stores.end(),
                                   [&](const Store& s) { return s.buffer == load.buffer; });
      return made_here && roots.contains(id) ? nullptr : &load;
    }
    return nullptr;
  };
  StepPoint point(arguments_);
  point.sample = arguments_.first_sample + sample;
  if (kernel.domain == Domain::Step) {
    point.step = step_indices_[static_cast<std::size_t>(data_step(step) * arguments_.batch + sample)];
    point.processed = arguments_.first_step + begin_ + step;
  }
  std::vector<NodeId> stack{root};
  while (!stack.empty()) {
    NodeId id = stack.back();
    if (!values_[id].empty()) {
      stack.pop_back();
      continue;
    }
    if (const Load* found = load_of(id)) {
      load(*found, step, sample);
      continue;
    }
    const Node& node = graph_[id];
    bool ready = true;
    for (NodeId operand : node.operands) {
      if (values_[operand].empty()) {
        stack.push_back(operand);
        ready = false;
      }
    }
    if (!ready) continue;
    std::vector<OperandView> operands;
    operands.reserve(node.operands.size());
    for (NodeId operand : node.operands) operands.push_back({values_[operand].data(), &graph_[operand].shape});
    Values result(static_cast<std::size_t>(node.shape.count()));
    evaluate(node, operands, point, result.data());
    values_[id] = std::move(result);
  }
}

void PlanInterpreter::load(const Load& load, std::int64_t step, std::int64_t sample) {
  const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(load.buffer)];
  const Node& node = graph_[load.node];
  Values result(static_cast<std::size_t>(node.shape.count()), 0.0);
  auto index = static_cast<std::size_t>(node.index);
  auto place = [&] { return static_cast<std::size_t>(data_step(step) * arguments_.batch + sample); };
  auto given = [&] { return index < arguments_.initial.size() && arguments_.initial[index].has_value(); };
  switch (buffer.space) {
    case Space::Live: throw InternalError("interpret plan", "the mask is no value");
    case Space::Reset:
      result[0] = !arguments_.reset.empty() && is_live(step, sample) && arguments_.reset[place()] != 0 ? 1.0 : 0.0;
      break;
    case Space::StepIndex: result[0] = static_cast<double>(step_indices_[place()]); break;
    case Space::InitialGiven: result[0] = given() ? 1.0 : 0.0; break;
    case Space::Initial:
      if (given())
        std::copy_n(arguments_.initial[index]->data() + sample * node.shape.count(), result.size(), result.data());
      break;
    default:
      if (!load.zero_when_masked || is_live(step, sample)) {
        std::copy_n(row(load.buffer, step, sample), result.size(), result.data());
      }
  }
  values_[load.node] = std::move(result);
}

void PlanInterpreter::store(const Store& store, std::int64_t step, std::int64_t sample) {
  const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(store.buffer)];
  const Values& value = values_[store.node];
  const Shape& shape = graph_[store.node].shape;
  bool masked = store.when_masked != WhenMasked::Store && !is_live(step, sample);
  double* to = row(store.buffer, step, sample);
  const double* hold = store.hold >= 0 ? row(store.hold, step, sample) : nullptr;
  std::int64_t inner = shape.rank() == 0 ? 1 : shape.stride(store.axis);
  std::int64_t size = shape.rank() == 0 ? 1 : shape[store.axis].size;
  std::int64_t full = shape.rank() == 0 ? 1 : buffer.shape[store.axis].size;
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    std::int64_t outer = i / (inner * size);
    std::int64_t at = (outer * full + store.begin + i / inner % size) * inner + i % inner;
    double element = value[static_cast<std::size_t>(i)];
    if (masked) element = store.when_masked == WhenMasked::Hold ? hold[at] : 0.0;
    to[at] = store.mode == StoreMode::Add ? to[at] + element : element;
  }
}

}  // namespace

RunResults interpret(const Plan& plan, const RunArguments& arguments, std::int64_t chunk_steps) {
  return PlanInterpreter(plan, arguments, chunk_steps).run();
}

}  // namespace cellfuse
