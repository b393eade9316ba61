#include "passes/plan_buffers.h"

#include "ir/diagnostic.h"

namespace cellfuse {

PlanBuffers::PlanBuffers(const Sequence& sequence, const Materialisation& values, DType dtype)
    : sequence_(sequence), graph_(sequence.cell.graph), values_(values), dtype_(dtype), compute_(info(dtype).compute) {
  get({Space::Live, 0, 0}, "live", dtype, true, true, {});
  // A draw of a step is numbered by it.
  for (NodeId id = 0; id < graph_.size(); ++id) {
    const Node& node = graph_[id];
    if (node.op == Op::Random && node.domain == Domain::Step) get({Space::StepIndex, 0, 0}, "t", dtype, true, true, {});
  }
}

std::string PlanBuffers::unique(const std::string& name) {
  std::string candidate = name;
  for (int i = 2; !names_.insert(candidate).second; ++i) candidate = name + "_" + std::to_string(i);
  return candidate;
}

std::string PlanBuffers::value_name(NodeId id) const {
  if (!graph_.name(id).empty()) return graph_.name(id);
  const Node& node = graph_[id];
  auto index = static_cast<std::size_t>(node.index);
  if (node.op == Op::Input) return sequence_.cell.inputs[index].name;
  if (node.op == Op::State) return sequence_.cell.states[index].name;
  if (node.op == Op::Param) return sequence_.cell.params[index].name;
  if (node.op == Op::Linear) return value_name(node.operands[1]) + "_" + value_name(node.operands[0]);
  if (node.op == Op::AccumulateOuter) return "sum_" + value_name(node.operands[0]) + "_" + value_name(node.operands[1]);
  if (node.op == Op::Accumulate) return "sum_" + value_name(node.operands[0]);
  return std::string(name(node.op));
}

int PlanBuffers::get(Key key, const std::string& name, DType dtype, bool time, bool batch, const Shape& shape) {
  auto [it, fresh] = ids_.try_emplace(key, static_cast<int>(buffers_.size()));
  if (!fresh) return it->second;
  Buffer buffer;
  buffer.name = unique(name);
  buffer.space = key.space;
  buffer.index = key.index;
  buffer.dtype = dtype;
  buffer.time = time;
  buffer.batch = batch;
  buffer.shape = shape;
  buffers_.push_back(buffer);
  return it->second;
}

int PlanBuffers::record_field(int input) const {
  int field = 0;
  for (int i = 0; i < input; ++i) {
    if (sequence_.cell.inputs[static_cast<std::size_t>(i)].role == InputRole::Record) ++field;
  }
  return field;
}

int PlanBuffers::state(int index, int which) {
  const CellState& state = sequence_.cell.states[static_cast<std::size_t>(index)];
  return get({Space::State, index, which}, which == 0 ? state.name : state.name + "_next", compute_, false, true,
             state.shape);
}

int PlanBuffers::source(NodeId id) {
  const Node& node = graph_[id];
  const Cell& cell = sequence_.cell;
  auto index = static_cast<std::size_t>(node.index);
  switch (node.op) {
    case Op::Input: {
      const CellInput& input = cell.inputs[index];
      if (input.role == InputRole::Reset) return get({Space::Reset, 0, 0}, "reset", dtype_, true, true, {});
      if (input.role == InputRole::Record) {
        return get({Space::Record, record_field(node.index), 0}, input.name, dtype_, true, true, input.shape);
      }
      return get({Space::Input, node.index, 0}, input.name, dtype_, true, true, input.shape);
    }
    case Op::State: return state(node.index, 0);
    case Op::Final: return state(node.index, 0);
    case Op::Param:
      return get({Space::Param, node.index, 0}, cell.params[index].name, dtype_, false, false, node.shape);
    case Op::Initial: {
      std::string name =
          index < cell.states.size() ? cell.states[index].name : cell.sample_inputs[index - cell.states.size()].name;
      return get({Space::Initial, node.index, 0}, "initial_" + name, compute_, false, true, node.shape);
    }
    case Op::InitialGiven: {
      std::string name =
          index < cell.states.size() ? cell.states[index].name : cell.sample_inputs[index - cell.states.size()].name;
      return get({Space::InitialGiven, node.index, 0}, "given_" + name, compute_, false, false, {});
    }
    case Op::StepIndex: return get({Space::StepIndex, 0, 0}, "t", dtype_, true, true, {});
    default: throw InternalError("partition_stages", "a value without a place to read it from");
  }
}

int PlanBuffers::home(NodeId id) {
  const Node& node = graph_[id];
  auto index = static_cast<int>(id);
  if (node.op == Op::Accumulate || node.op == Op::AccumulateOuter) {
    return get({Space::Accumulator, index, 0}, value_name(id), compute_, false, node.domain == Domain::Sample,
               node.shape);
  }
  Place place = place_of(sequence_, id);
  bool rows = node.domain == Domain::Step && place.in_chunk();
  bool time = rows && (place.section != Place::Step || values_.crossing[id]);
  std::string name = value_name(id) + (is_source(graph_, id) ? "_copy" : "");
  return get({Space::Workspace, index, 0}, name, compute_, time, node.domain != Domain::Once, node.shape);
}

int PlanBuffers::sink(const Sink& sink) {
  const Cell& cell = sequence_.cell;
  auto index = static_cast<std::size_t>(sink.index);
  const Shape& shape = graph_[sink.node].shape;
  switch (sink.kind) {
    case Sink::Output:
      return get({Space::Output, sink.index, 0}, cell.outputs[index].name + "_out", dtype_, true, true, shape);
    case Sink::Record: {
      const std::string& value = graph_.name(sink.node);
      return get({Space::Record, sink.index, 0}, "saved_" + (value.empty() ? std::to_string(sink.index) : value),
                 dtype_, true, true, shape);
    }
    case Sink::Start: return state(sink.index, 0);
    case Sink::NextState: return state(sink.index, 1);
    case Sink::Final:
      return get({Space::Final, sink.index, 0}, "final_" + cell.states[index].name, compute_, false, true, shape);
    case Sink::Result: {
      bool batch = graph_[sink.node].domain != Domain::Once;
      return get({Space::Result, sink.index, 0}, cell.results[index].name, compute_, false, batch, shape);
    }
    case Sink::Sum: return home(static_cast<NodeId>(sink.index));
  }
  throw InternalError("partition_stages", "unknown sink");
}

}  // namespace cellfuse
