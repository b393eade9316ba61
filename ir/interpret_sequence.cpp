#include "ir/interpret_sequence.h"

#include <algorithm>

#include "ir/call_reader.h"
#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

bool is_sum(Op op) { return op == Op::Accumulate || op == Op::AccumulateOuter; }

class SequenceInterpreter {
 public:
  SequenceInterpreter(const Sequence& sequence, const RunArguments& arguments)
      : sequence_(sequence),
        cell_(sequence.cell),
        graph_(sequence.cell.graph),
        arguments_(arguments),
        reader_(sequence.cell, arguments),
        live_(reachable(graph_, cell_.roots())) {
    find_kept();
    allocate();
  }

  RunResults run();

 private:
  void find_kept();
  void allocate();

  bool in(NodeId id, int loop, Phase phase) const {
    const Placement& place = sequence_.placement[id];
    bool outside = phase == Phase::Once || phase == Phase::Finish;
    return live_[id] && place.phase == phase && (outside || place.loop == loop);
  }
  /// Elements of a node at a step of a sample.
  double* at(NodeId id, std::int64_t time, std::int64_t sample);
  void compute(NodeId id, std::int64_t time, std::int64_t sample, double* result);
  void compute_or_add(NodeId id, std::int64_t time, std::int64_t sample);
  void run_outside(Phase phase);
  void run_all_steps(int loop, Phase phase);
  void run_loop(int loop);
  void run_step(int loop, std::int64_t time, std::int64_t sample);
  void start_states();
  void hand_out();

  const Sequence& sequence_;
  const Cell& cell_;
  const Graph& graph_;
  const RunArguments& arguments_;
  CallReader reader_;
  std::vector<bool> live_;
  std::vector<bool> kept_;      // by node: there for all steps at once
  std::vector<Values> values_;  // by node
  std::vector<OperandView> operands_;
  Values term_;
  std::vector<Values> states_;
  RunResults results_;
};

/// A value of the loop is there for one step, unless something outside the loop reads it.
void SequenceInterpreter::find_kept() {
  kept_.assign(graph_.size(), false);
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live_[id]) continue;
    const Placement& place = sequence_.placement[id];
    if (place.phase == Phase::Before || place.phase == Phase::After) kept_[id] = true;
    for (NodeId operand : graph_[id].operands) {
      const Placement& maker = sequence_.placement[operand];
      if (maker.phase != place.phase || maker.loop != place.loop) kept_[operand] = true;
    }
  }
  for (const CellOutput& output : cell_.outputs) kept_[output.node] = true;
}

void SequenceInterpreter::allocate() {
  values_.resize(graph_.size());
  std::int64_t largest = 0;
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!live_[id]) continue;
    const Node& node = graph_[id];
    std::int64_t count = node.shape.count();
    largest = std::max(largest, count);
    if (node.domain != Domain::Once) count *= arguments_.batch;
    if (node.domain == Domain::Step && kept_[id]) count *= arguments_.steps;
    values_[id].assign(static_cast<std::size_t>(count), 0.0);
  }
  term_.resize(static_cast<std::size_t>(largest));
  for (const CellState& state : cell_.states) {
    std::int64_t count = arguments_.batch * state.shape.count();
    states_.emplace_back(static_cast<std::size_t>(count), 0.0);
    results_.history.emplace_back(static_cast<std::size_t>(count * arguments_.steps), 0.0);
  }
}

double* SequenceInterpreter::at(NodeId id, std::int64_t time, std::int64_t sample) {
  const Node& node = graph_[id];
  std::int64_t row = node.domain == Domain::Once ? 0 : sample;
  if (node.domain == Domain::Step && kept_[id]) row += time * arguments_.batch;
  return values_[id].data() + row * node.shape.count();
}

void SequenceInterpreter::compute(NodeId id, std::int64_t time, std::int64_t sample, double* result) {
  const Node& node = graph_[id];
  if (is_leaf(node.op)) {
    const bool carried = node.op == Op::State || node.op == Op::Final;
    const double* state =
        carried ? states_[static_cast<std::size_t>(node.index)].data() + sample * node.shape.count() : nullptr;
    return reader_.read(node, time, sample, state, result);
  }
  operands_.clear();
  for (NodeId operand : node.operands) operands_.push_back({at(operand, time, sample), &graph_[operand].shape});
  evaluate(node, operands_, StepPoint(), result);
}

void SequenceInterpreter::compute_or_add(NodeId id, std::int64_t time, std::int64_t sample) {
  if (!is_sum(graph_[id].op)) return compute(id, time, sample, at(id, time, sample));
  compute(id, time, sample, term_.data());
  double* sum = at(id, time, sample);
  const std::int64_t count = graph_[id].shape.count();
  for (std::int64_t i = 0; i < count; ++i) sum[i] += term_[static_cast<std::size_t>(i)];
}

void SequenceInterpreter::run_outside(Phase phase) {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!in(id, 0, phase)) continue;
    const bool single = graph_[id].domain == Domain::Once && !is_sum(graph_[id].op);
    for (std::int64_t sample = 0; sample < (single ? 1 : arguments_.batch); ++sample) compute_or_add(id, 0, sample);
  }
}

void SequenceInterpreter::run_all_steps(int loop, Phase phase) {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (!in(id, loop, phase)) continue;
    for (std::int64_t time = 0; time < arguments_.steps; ++time) {
      for (std::int64_t sample = 0; sample < arguments_.batch; ++sample) {
        if (reader_.is_live(time, sample)) compute_or_add(id, time, sample);
      }
    }
  }
}

void SequenceInterpreter::run_step(int loop, std::int64_t time, std::int64_t sample) {
  for (NodeId id = 0; id < graph_.size(); ++id) {
    if (in(id, loop, Phase::Step)) compute_or_add(id, time, sample);
  }
  for (int index : sequence_.loops[static_cast<std::size_t>(loop)].states) {
    const auto state = static_cast<std::size_t>(index);
    const std::int64_t count = cell_.states[state].shape.count();
    std::copy_n(at(cell_.states[state].next, time, sample), count, states_[state].data() + sample * count);
  }
}

void SequenceInterpreter::run_loop(int loop) {
  for (std::int64_t i = 0; i < arguments_.steps; ++i) {
    const std::int64_t time = reader_.walks_down() ? arguments_.steps - 1 - i : i;
    for (int index : sequence_.loops[static_cast<std::size_t>(loop)].states) {
      const auto state = static_cast<std::size_t>(index);
      const auto count = static_cast<std::int64_t>(states_[state].size());
      std::copy_n(states_[state].data(), count, results_.history[state].data() + time * count);
    }
    for (std::int64_t sample = 0; sample < arguments_.batch; ++sample) {
      if (reader_.is_live(time, sample)) run_step(loop, time, sample);
    }
  }
}

void SequenceInterpreter::start_states() {
  for (std::size_t i = 0; i < cell_.states.size(); ++i) {
    const std::int64_t count = cell_.states[i].shape.count();
    for (std::int64_t sample = 0; sample < arguments_.batch; ++sample) {
      std::copy_n(at(cell_.states[i].start, 0, sample), count, states_[i].data() + sample * count);
    }
  }
}

void SequenceInterpreter::hand_out() {
  for (const CellOutput& output : cell_.outputs) {
    const std::int64_t count = graph_[output.node].shape.count();
    Values values(static_cast<std::size_t>(arguments_.steps * arguments_.batch * count), 0.0);
    for (std::int64_t time = 0; time < arguments_.steps; ++time) {
      for (std::int64_t sample = 0; sample < arguments_.batch; ++sample) {
        if (!reader_.is_live(time, sample)) continue;
        double* to = values.data() + (time * arguments_.batch + sample) * count;
        std::copy_n(at(output.node, time, sample), count, to);
      }
    }
    results_.outputs.push_back(std::move(values));
  }
  for (const CellResult& result : cell_.results) {
    const std::int64_t count = graph_[result.node].shape.count();
    const std::int64_t samples = result.domain == Domain::Sample ? arguments_.batch : 1;
    Values values(static_cast<std::size_t>(samples * count));
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      std::copy_n(at(result.node, 0, sample), count, values.data() + sample * count);
    }
    results_.results.push_back(std::move(values));
  }
  results_.finals = std::move(states_);
}

RunResults SequenceInterpreter::run() {
  run_outside(Phase::Once);
  start_states();
  for (int loop = 0; loop < static_cast<int>(sequence_.loops.size()); ++loop) {
    run_all_steps(loop, Phase::Before);
    run_loop(loop);
    run_all_steps(loop, Phase::After);
  }
  run_outside(Phase::Finish);
  hand_out();
  return std::move(results_);
}

}  // namespace

RunResults interpret(const Sequence& sequence, const RunArguments& arguments) {
  return SequenceInterpreter(sequence, arguments).run();
}

}  // namespace cellfuse
