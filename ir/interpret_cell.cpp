#include "ir/interpret_cell.h"

#include <algorithm>

#include "ir/call_reader.h"
#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

bool is_accumulation(Op op) { return op == Op::Accumulate || op == Op::AccumulateOuter; }

class CellInterpreter {
 public:
  CellInterpreter(const Cell& cell, const RunArguments& arguments);
  RunResults run();

 private:
  void find_live();
  void schedule();
  void allocate();

  /// Where the elements of a node are; those of domain Sample are there for all samples at once.
  double* at(NodeId id, std::int64_t sample);
  void compute(NodeId id, std::int64_t sample, double* result);
  void add_term(NodeId id, std::int64_t sample);
  void compute_before(NodeId id);
  void compute_finish(NodeId id);
  void start_states();
  void run_sample(std::int64_t sample);
  void run_step(std::int64_t sample);
  void hand_out();

  const Cell& cell_;
  const Graph& graph_;
  const RunArguments& arguments_;
  CallReader reader_;
  std::vector<bool> live_;            // by node
  std::vector<bool> finish_;          // by node: depends on a sum over the steps or a final state
  std::vector<NodeId> before_nodes_;  // domains Once and Sample
  std::vector<NodeId> step_nodes_;
  std::vector<NodeId> step_sums_;  // Accumulate and AccumulateOuter that add a term at each step
  std::vector<NodeId> finish_nodes_;
  std::vector<std::size_t> offsets_;  // by node, into arena_
  Values arena_;
  Values term_;
  std::vector<OperandView> operands_;
  std::int64_t time_ = 0;
  std::vector<Values> states_;
  RunResults results_;
};

CellInterpreter::CellInterpreter(const Cell& cell, const RunArguments& arguments)
    : cell_(cell), graph_(cell.graph), arguments_(arguments), reader_(cell, arguments) {
  find_live();
  schedule();
  allocate();
}

void CellInterpreter::find_live() {
  live_.assign(graph_.size(), false);
  for (NodeId root : cell_.roots()) live_[root] = true;
  for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
    if (!live_[id]) continue;
    const Node& node = graph_[id];
    if (node.op == Op::WithGrad) {
      live_[node.operands[0]] = true;  // the gradient is no part of the value
    } else {
      for (NodeId operand : node.operands) live_[operand] = true;
    }
  }
}

void CellInterpreter::schedule() {
  finish_.assign(graph_.size(), false);
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live_[id]) continue;
    const Node& node = graph_[id];
    bool late_operand = false;
    for (NodeId operand : node.operands) late_operand = late_operand || finish_[operand];
    const bool sum = is_accumulation(node.op);
    finish_[id] = sum || node.op == Op::Final || late_operand;
    check_internal(!finish_[id] || node.domain != Domain::Step, "interpret",
                   "a value of each step depends on a sum over the steps or on a final state");
    if (sum && summed_from(node) == Domain::Step && !late_operand) {
      step_sums_.push_back(id);
    } else if (finish_[id]) {
      finish_nodes_.push_back(id);
    } else {
      (node.domain == Domain::Step ? step_nodes_ : before_nodes_).push_back(id);
    }
  }
}

void CellInterpreter::allocate() {
  offsets_.assign(graph_.size(), 0);
  std::size_t size = 0;
  std::int64_t largest = 0;
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live_[id]) continue;
    const std::int64_t count = graph_[id].shape.count();
    largest = std::max(largest, count);
    offsets_[id] = size;
    size += static_cast<std::size_t>(graph_[id].domain == Domain::Sample ? count * arguments_.batch : count);
  }
  arena_.assign(size, 0.0);
  term_.resize(static_cast<std::size_t>(largest));
  const std::int64_t places = arguments_.steps * arguments_.batch;
  for (const CellOutput& output : cell_.outputs) {
    results_.outputs.emplace_back(static_cast<std::size_t>(places * graph_[output.node].shape.count()), 0.0);
  }
  for (const CellState& state : cell_.states) {
    results_.history.emplace_back(static_cast<std::size_t>(places * state.shape.count()), 0.0);
    states_.emplace_back(static_cast<std::size_t>(arguments_.batch * state.shape.count()), 0.0);
  }
}

double* CellInterpreter::at(NodeId id, std::int64_t sample) {
  const Node& node = graph_[id];
  return arena_.data() + offsets_[id] + (node.domain == Domain::Sample ? sample * node.shape.count() : 0);
}

void CellInterpreter::compute(NodeId id, std::int64_t sample, double* result) {
  const Node& node = graph_[id];
  if (is_leaf(node.op)) {
    const bool carried = node.op == Op::State || node.op == Op::Final;
    const double* state =
        carried ? states_[static_cast<std::size_t>(node.index)].data() + sample * node.shape.count() : nullptr;
    return reader_.read(node, time_, sample, state, result);
  }
  operands_.clear();
  for (NodeId operand : node.operands) {
    operands_.push_back(live_[operand] ? OperandView{at(operand, sample), &graph_[operand].shape} : OperandView{});
  }
  evaluate(node, operands_, StepPoint(), result);
}

void CellInterpreter::add_term(NodeId id, std::int64_t sample) {
  compute(id, sample, term_.data());
  const std::int64_t count = graph_[id].shape.count();
  double* sum = at(id, sample);
  for (std::int64_t i = 0; i < count; ++i) sum[i] += term_[static_cast<std::size_t>(i)];
}

void CellInterpreter::compute_before(NodeId id) {
  if (graph_[id].domain == Domain::Once) return compute(id, 0, at(id, 0));
  for (std::int64_t sample = 0; sample < arguments_.batch; ++sample) compute(id, sample, at(id, sample));
}

void CellInterpreter::compute_finish(NodeId id) {
  const Node& node = graph_[id];
  if (!is_accumulation(node.op)) return compute_before(id);
  for (std::int64_t sample = 0; sample < arguments_.batch; ++sample) {
    if (summed_from(node) == Domain::Sample) {
      add_term(id, sample);
    } else {
      for (std::int64_t time = 0; time < arguments_.steps; ++time) {
        if (reader_.is_live(time, sample)) add_term(id, sample);
      }
    }
  }
}

void CellInterpreter::start_states() {
  for (std::size_t i = 0; i < cell_.states.size(); ++i) {
    const std::int64_t count = cell_.states[i].shape.count();
    for (std::int64_t sample = 0; sample < arguments_.batch; ++sample) {
      std::copy_n(at(cell_.states[i].start, sample), count, states_[i].data() + sample * count);
    }
  }
}

void CellInterpreter::run_step(std::int64_t sample) {
  for (NodeId id : step_nodes_) compute(id, sample, at(id, sample));
  for (NodeId id : step_sums_) add_term(id, sample);
  const std::int64_t place = time_ * arguments_.batch + sample;
  for (std::size_t i = 0; i < cell_.outputs.size(); ++i) {
    const std::int64_t count = graph_[cell_.outputs[i].node].shape.count();
    std::copy_n(at(cell_.outputs[i].node, sample), count, results_.outputs[i].data() + place * count);
  }
  for (std::size_t i = 0; i < cell_.states.size(); ++i) {
    const std::int64_t count = cell_.states[i].shape.count();
    std::copy_n(at(cell_.states[i].next, sample), count, states_[i].data() + sample * count);
  }
}

void CellInterpreter::run_sample(std::int64_t sample) {
  for (std::int64_t i = 0; i < arguments_.steps; ++i) {
    time_ = reader_.walks_down() ? arguments_.steps - 1 - i : i;
    const std::int64_t place = time_ * arguments_.batch + sample;
    for (std::size_t k = 0; k < cell_.states.size(); ++k) {
      const std::int64_t count = cell_.states[k].shape.count();
      std::copy_n(states_[k].data() + sample * count, count, results_.history[k].data() + place * count);
    }
    if (reader_.is_live(time_, sample)) run_step(sample);
  }
}

void CellInterpreter::hand_out() {
  for (const CellResult& result : cell_.results) {
    const std::int64_t count = graph_[result.node].shape.count();
    const std::int64_t samples = result.domain == Domain::Sample ? arguments_.batch : 1;
    Values values(static_cast<std::size_t>(samples * count));
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      std::copy_n(at(result.node, sample), count, values.data() + sample * count);
    }
    results_.results.push_back(std::move(values));
  }
  results_.finals = std::move(states_);
}

RunResults CellInterpreter::run() {
  for (NodeId id : before_nodes_) compute_before(id);
  start_states();
  for (std::int64_t sample = 0; sample < arguments_.batch; ++sample) run_sample(sample);
  for (NodeId id : finish_nodes_) compute_finish(id);
  hand_out();
  return std::move(results_);
}

}  // namespace

RunResults interpret(const Cell& cell, const RunArguments& arguments) { return CellInterpreter(cell, arguments).run(); }

}  // namespace cellfuse
