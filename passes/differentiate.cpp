#include "passes/differentiate.h"

#include <algorithm>

#include "ir/diagnostic.h"
#include "passes/add_resets.h"
#include "passes/gradient_rules.h"
#include "passes/names.h"
#include "passes/rewrite.h"

namespace cellfuse {

namespace {

/// Operations without derivatives of their own become the operations they are made of.
Cell expand_composites(const Cell& cell) {
  bool again = true;
  Cell result = cell;
  while (again) {
    again = false;
    result = rewrite(result, [&again](Graph& target, const Node& node, NodeId) {
      if (!is_elementwise(node.op) || elementwise(node.op).derivatives != nullptr) return kNoNode;
      again = true;
      Expr operands[3];
      for (std::size_t i = 0; i < node.operands.size(); ++i) operands[i] = {&target, node.operands[i]};
      return elementwise(node.op).expand(operands[0], operands[1], operands[2]).id;
    });
  }
  return result;
}

/// The index of the placeholder that stands for a final state of the differentiated cell.
std::int32_t final_placeholder(std::int32_t state) { return -1 - state; }

class Differentiator {
 public:
  explicit Differentiator(const Cell& cell)
      : cell_(expand_composites(cell)),
        primal_(cell_.graph),
        live_(reachable(primal_, cell_.roots())),
        adjoints_(primal_.size()) {}

  Cell run() {
    declare();
    copy_primal();
    find_wanted();
    seed();
    sweep();
    hand_out();
    Cell pruned = prune(result_);
    check_time(pruned);
    return pruned;
  }

 private:
  void declare();
  void declare_results();
  std::string declared_name(const std::string& name) const {
    return unused_name(name, result_.inputs, result_.params, result_.states);
  }
  void copy_primal();
  NodeId copy_node(Graph& target, const Node& node) const;
  void find_wanted();
  void seed();
  void seed_node(NodeId node, Expr g, Domain from);
  void sweep();
  void hand_out();
  void check_time(const Cell& derivative) const;

  /// The adjoint of a leaf, 0 where nothing contributes.
  Expr gradient_of(Op op, std::size_t index, const Shape& shape);
  std::int32_t states() const { return static_cast<std::int32_t>(cell_.states.size()); }

  Cell cell_;
  const Graph& primal_;
  std::vector<bool> live_;    // by node of the primal
  std::vector<bool> wanted_;  // needs an adjoint: depends on something that gets a gradient
  std::vector<NodeId> map_;   // from the primal to the derivative
  Adjoints adjoints_;
  Cell result_;
  std::int32_t first_record_ = 0;
  std::int32_t first_output_grad_ = 0;
  std::int32_t first_param_seed_ = 0;
  std::int32_t first_sample_seed_ = 0;
};

void Differentiator::declare() {
  result_.name = cell_.name + "_backward";
  result_.dims = cell_.dims;
  result_.backward = !cell_.backward;
  result_.inputs = cell_.inputs;
  result_.params = cell_.params;
  first_record_ = static_cast<std::int32_t>(result_.inputs.size());
  for (const CellState& state : cell_.states) {
    result_.inputs.push_back({declared_name(state.name), state.shape, InputRole::Record, state.span});
    result_.sample_inputs.push_back({unused_name(state.name, result_.sample_inputs), state.shape});
  }
  for (const CellState& state : cell_.states) {
    result_.states.push_back({declared_name("d_" + state.name), state.shape, kNoNode, kNoNode, state.span});
  }
  first_output_grad_ = static_cast<std::int32_t>(result_.inputs.size());
  for (const CellOutput& output : cell_.outputs) {
    if (output.role != OutputRole::Data) continue;
    const std::string name = declared_name("d_output_" + output.name);
    const Shape& shape = primal_[output.node].shape;
    result_.inputs.push_back({name, shape, InputRole::OutputGrad, primal_.span(output.node)});
  }
  for (const CellSampleInput& input : cell_.sample_inputs) {
    result_.sample_inputs.push_back({unused_name(input.name, result_.sample_inputs), input.shape});
  }
  declare_results();
}

void Differentiator::declare_results() {
  first_param_seed_ = static_cast<std::int32_t>(result_.params.size());
  first_sample_seed_ = states() + static_cast<std::int32_t>(result_.sample_inputs.size());
  for (const CellResult& result : cell_.results) {
    const Shape& shape = primal_[result.node].shape;
    const std::string name = "d_result_" + result.name;
    if (result.domain == Domain::Once) {
      result_.params.push_back({declared_name(name), shape, true, {}});
    } else {
      result_.sample_inputs.push_back({unused_name(name, result_.sample_inputs), shape});
    }
  }
}

NodeId Differentiator::copy_node(Graph& target, const Node& node) const {
  switch (node.op) {
    case Op::State: return leaf(target, Op::Input, first_record_ + node.index, node.shape).id;
    case Op::Initial:
    case Op::InitialGiven: return leaf(target, node.op, states() + node.index, node.shape).id;
    case Op::Final: {
      Node stand_in = node;
      stand_in.op = Op::Placeholder;
      stand_in.index = final_placeholder(node.index);
      return target.add(stand_in);
    }
    default: return kNoNode;
  }
}

void Differentiator::copy_primal() {
  map_ = rebuild(primal_, cell_.roots(), result_.graph,
                 [this](Graph& target, const Node& node, NodeId) { return copy_node(target, node); });
}

void Differentiator::find_wanted() {
  wanted_.assign(primal_.size(), false);
  for (NodeId id = 0; id < primal_.size(); ++id) {
    if (!live_[id]) continue;
    const Node& node = primal_[id];
    const auto index = static_cast<std::size_t>(node.index);
    switch (node.op) {
      case Op::State:
      case Op::Initial:
      case Op::Final: wanted_[id] = true; break;
      case Op::Input: wanted_[id] = cell_.inputs[index].role != InputRole::Reset; break;
      case Op::Param: wanted_[id] = cell_.params[index].trained; break;
      case Op::Detach: break;
      case Op::WithGrad:
        for (std::size_t i = 1; i <= node.operands.size() / 2; ++i) {
          wanted_[id] = wanted_[id] || wanted_[node.operands[i]];
        }
        break;
      default:
        for (NodeId operand : node.operands) wanted_[id] = wanted_[id] || wanted_[operand];
    }
  }
}

void Differentiator::seed_node(NodeId node, Expr g, Domain from) {
  const Domain domain = primal_[node].domain;
  if (wanted_[node]) adjoints_.add(node, {domain < from ? accumulate(g, domain, from) : g, {}, false});
}

void Differentiator::seed() {
  Graph& graph = result_.graph;
  for (std::int32_t i = 0; i < states(); ++i) {
    const CellState& state = cell_.states[static_cast<std::size_t>(i)];
    seed_node(state.next, leaf(graph, Op::State, i, state.shape), Domain::Step);
    seed_node(state.start, leaf(graph, Op::Final, i, state.shape), Domain::Sample);
  }
  std::int32_t input = first_output_grad_;
  for (const CellOutput& output : cell_.outputs) {
    if (output.role != OutputRole::Data) continue;
    seed_node(output.node, leaf(graph, Op::Input, input++, primal_[output.node].shape), Domain::Step);
  }
  std::int32_t param = first_param_seed_;
  std::int32_t sample = first_sample_seed_;
  for (const CellResult& result : cell_.results) {
    const Shape& shape = primal_[result.node].shape;
    if (result.domain == Domain::Once) {
      seed_node(result.node, leaf(graph, Op::Param, param++, shape), Domain::Once);
    } else {
      seed_node(result.node, initial_or(constant(graph, 0.0, shape), sample++), Domain::Sample);
    }
  }
}

void Differentiator::sweep() {
  Graph& graph = result_.graph;
  GradientRules rules(primal_, graph, map_, wanted_, adjoints_);
  for (auto id = static_cast<NodeId>(primal_.size()); id-- > 0;) {
    if (!live_[id] || !wanted_[id] || is_leaf(primal_[id].op)) continue;
    const Adjoint g = adjoints_.sum(id, primal_[id].shape);
    if (!g) continue;
    const std::string& name = primal_.name(id);
    if (!name.empty() && !is_leaf(g.value.node().op)) graph.set_name(g.value.id, "d_" + name);
    const auto first_new = static_cast<NodeId>(graph.size());
    rules.propagate(id, g);
    if (const Span span = primal_.span(id)) {
      for (NodeId made = first_new; made < graph.size(); ++made) graph.set_span(made, span);
    }
  }
}

Expr Differentiator::gradient_of(Op op, std::size_t index, const Shape& shape) {
  for (NodeId id = 0; id < primal_.size(); ++id) {
    if (!live_[id] || primal_[id].op != op || static_cast<std::size_t>(primal_[id].index) != index) continue;
    const Adjoint g = adjoints_.sum(id, shape);
    if (g) return g.value;
  }
  return constant(result_.graph, 0.0, shape);
}

void Differentiator::hand_out() {
  Graph& graph = result_.graph;
  for (std::size_t i = 0; i < cell_.states.size(); ++i) {
    CellState& state = result_.states[i];
    const Expr start = initial_or(constant(graph, 0.0, state.shape), static_cast<std::int32_t>(i));
    const Expr of_final = gradient_of(Op::Final, i, state.shape);
    state.start = of_final.node().op == Op::Constant ? start.id : (start + of_final).id;
    state.next = gradient_of(Op::State, i, state.shape).id;
  }
  for (std::size_t i = 0; i < cell_.inputs.size(); ++i) {
    const CellInput& input = cell_.inputs[i];
    if (input.role == InputRole::Reset) continue;
    const std::string name = unused_name("d_" + input.name, result_.outputs);
    result_.outputs.push_back({name, gradient_of(Op::Input, i, input.shape).id, OutputRole::Data});
  }
  auto add_result = [&](const std::string& name, Expr value, Domain domain) {
    result_.results.push_back({unused_name("d_" + name, result_.results), value.id, domain});
  };
  for (std::size_t i = 0; i < cell_.params.size(); ++i) {
    const CellParam& param = cell_.params[i];
    if (param.trained) add_result(param.name, gradient_of(Op::Param, i, param.shape), Domain::Once);
  }
  for (std::size_t i = 0; i < cell_.states.size(); ++i) {
    const CellState& state = cell_.states[i];
    add_result(state.name, gradient_of(Op::Initial, i, state.shape), Domain::Sample);
  }
  for (std::size_t i = 0; i < cell_.sample_inputs.size(); ++i) {
    const CellSampleInput& input = cell_.sample_inputs[i];
    add_result(input.name, gradient_of(Op::Initial, cell_.states.size() + i, input.shape), Domain::Sample);
  }
}

/// Everything must be computable in one loop.
void Differentiator::check_time(const Cell& derivative) const {
  const Graph& graph = derivative.graph;
  std::vector<bool> late(graph.size(), false);
  auto require_early = [&](NodeId id) {
    if (!late[id]) return;
    const std::string message =
        "the derivative of `" + cell_.name + "` needs, at each step, a value that is known only after the last step";
    throw CompileError({Diagnostic{Severity::Error, message, graph.span(id), {}, {}}});
  };
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (node.op == Op::Placeholder && node.index < 0) {
      const CellState& state = cell_.states[static_cast<std::size_t>(-1 - node.index)];
      throw CompileError("the derivative of `" + cell_.name + "` needs the final state `" + state.name +
                         "` itself, which it is not given");
    }
    late[id] = node.op == Op::Accumulate || node.op == Op::AccumulateOuter || node.op == Op::Final;
    const bool sum = late[id];
    bool late_operand = false;
    for (NodeId operand : node.operands) late_operand = late_operand || late[operand];
    late[id] = late[id] || late_operand;
    if (node.domain == Domain::Step) require_early(id);
    // A sum over the steps cannot have a term with a factor that another sum over the steps makes.
    for (NodeId operand : node.operands) {
      if (sum && late_operand && graph[operand].domain == Domain::Step) require_early(id);
    }
  }
  for (const CellState& state : derivative.states) {
    require_early(state.start);
    require_early(state.next);
  }
  for (const CellOutput& output : derivative.outputs) require_early(output.node);
}

}  // namespace

Cell differentiate(const Cell& cell) { return Differentiator(cell).run(); }

}  // namespace cellfuse
