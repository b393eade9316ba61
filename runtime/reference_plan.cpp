#include "runtime/reference_plan.h"

#include "ir/interpret_plan.h"
#include "runtime/checked.h"

namespace cellfuse {

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Moves values between the tensors of a call and arrays `[time, batch, ...]`.
class Mover {
 public:
  Mover(std::int64_t steps, std::int64_t batch, std::int64_t count) : steps_(steps), batch_(batch), count_(count) {}

  Values read(const Strided& tensor) const {
    Values values(at(steps_ * batch_ * count_));
    if (tensor.data)
      each([&](const std::byte* row, double* value) { convert(row, tensor.dtype, value, DType::Float64, count_); },
           tensor, values.data());
    return values;
  }

  void write(const Values& values, const Strided& tensor) const {
    if (!tensor.data) return;
    each([&](std::byte* row, const double* value) { convert(value, DType::Float64, row, tensor.dtype, count_); },
         tensor, values.data());
  }

 private:
  template <typename Function, typename Value>
  void each(Function function, const Strided& tensor, Value* values) const {
    for (std::int64_t t = 0; t < steps_; ++t) {
      for (std::int64_t b = 0; b < batch_; ++b) {
        function(tensor.data + t * tensor.time_stride + b * tensor.batch_stride, values + (t * batch_ + b) * count_);
      }
    }
  }

  std::int64_t steps_;
  std::int64_t batch_;
  std::int64_t count_;
};

class ReferencePlan final : public LoadedPlan {
 public:
  explicit ReferencePlan(const Plan& plan, std::int64_t limit) : plan_(plan), limit_(limit) {}

  void run(const PlanCall& call) const override {
    const RunResults results = interpret(plan_, arguments(call), chunk(call));
    const Cell& cell = plan_.interface;
    std::int64_t field = 0;
    for (std::size_t i = 0; i < cell.outputs.size(); ++i) {
      const Mover mover(call.steps, call.batch, cell.graph[cell.outputs[i].node].shape.count());
      const bool is_record = cell.outputs[i].role == OutputRole::Record;
      mover.write(results.outputs[i], is_record ? record_field(call, field++) : call.outputs[i]);
    }
    for (std::size_t i = 0; i < cell.states.size(); ++i) {
      Mover(1, call.batch, cell.states[i].shape.count()).write(results.finals[i], call.finals[i]);
    }
    for (std::size_t i = 0; i < cell.results.size(); ++i) write_result(call, i, results.results[i]);
  }

  std::unique_ptr<PreparedPlan> prepare(const PlanCall& call) const override {
    class Prepared final : public PreparedPlan {
     public:
      explicit Prepared(const ReferencePlan& plan) : plan_(plan) {}
      void step(const PlanCall& call) override { plan_.run(call); }

     private:
      const ReferencePlan& plan_;
    };
    static_cast<void>(call);
    return std::make_unique<Prepared>(*this);
  }

  std::vector<std::pair<std::string, double>> times() const override { return {}; }

 private:
  RunArguments arguments(const PlanCall& call) const {
    const Cell& cell = plan_.interface;
    RunArguments arguments;
    arguments.steps = call.steps;
    arguments.batch = call.batch;
    std::int64_t field = 0;
    for (std::size_t i = 0; i < cell.inputs.size(); ++i) {
      const Mover mover(call.steps, call.batch, cell.inputs[i].shape.count());
      const InputRole role = cell.inputs[i].role;
      if (role == InputRole::Reset) arguments.inputs.emplace_back();
      if (role == InputRole::Record) arguments.inputs.push_back(mover.read(record_field(call, field++)));
      if (role == InputRole::Data || role == InputRole::OutputGrad)
        arguments.inputs.push_back(mover.read(call.inputs[i]));
    }
    for (std::size_t i = 0; i < cell.params.size(); ++i) {
      arguments.params.push_back(Mover(1, 1, cell.params[i].shape.count()).read(call.params[i]));
    }
    for (std::size_t i = 0; i < call.initial.size(); ++i) {
      const Shape& shape =
          i < cell.states.size() ? cell.states[i].shape : cell.sample_inputs[i - cell.states.size()].shape;
      arguments.initial.emplace_back();
      if (call.initial[i].data) arguments.initial.back() = Mover(1, call.batch, shape.count()).read(call.initial[i]);
    }
    arguments.live = call.flags->live;
    arguments.reset = call.flags->reset;
    arguments.reverse = call.reverse;
    arguments.first_step = call.first_step;
    arguments.first_sample = call.first_sample;
    arguments.seed = call.seed;
    arguments.offset = call.offset;
    arguments.layer = call.layer;
    arguments.direction = call.direction;
    return arguments;
  }

  /// In the order of the data, `[time, batch, shape]`: what the groups hold together is as large.
  Strided record_field(const PlanCall& call, std::int64_t index) const {
    const RecordLayout layout = record_layout(plan_, call.steps, call.batch);
    const RecordField& field = plan_.record[at(index)];
    const auto bytes = static_cast<std::int64_t>(info(field.dtype).bytes) * field.shape.count();
    return {call.record + layout.offset[at(index)], call.batch * bytes, bytes, field.dtype};
  }

  void write_result(const PlanCall& call, std::size_t index, const Values& values) const {
    const Node& node = plan_.interface.graph[plan_.interface.results[index].node];
    const Strided& to = call.results[index];
    const bool once = node.domain == Domain::Once;
    const Mover mover(1, once ? 1 : call.batch, node.shape.count());
    if (!once || !call.accumulate || !to.data) return mover.write(values, to);
    Values sum = mover.read(to);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    mover.write(sum, to);
  }

  std::int64_t chunk(const PlanCall& call) const {
    const std::int64_t step = plan_.arena.per_step * call.batch;
    return step == 0 ? 0 : std::clamp<std::int64_t>(limit_ / step, 1, std::max<std::int64_t>(call.steps, 1));
  }

  const Plan& plan_;
  std::int64_t limit_;
};

}  // namespace

std::unique_ptr<LoadedPlan> load_reference(const Plan& plan, const Resources& resources) {
  return std::make_unique<ReferencePlan>(plan, resources.workspace_limit);
}

}  // namespace cellfuse
