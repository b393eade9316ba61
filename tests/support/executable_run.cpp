#include "tests/support/executable_run.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include <doctest/doctest.h>

#include "ir/interpret_cell.h"
#include "passes/add_resets.h"
#include "passes/bind_mode.h"

namespace cellfuse::testing {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Memory of one tensor `[time, batch, count]` in some arrangement; time and batch may be absent.
class Strip {
 public:
  Strip(DType dtype, const Shape& shape, std::int64_t steps, std::int64_t batch, int leading,
        const Arrangement& arrangement)
      : shape_(shape), steps_(steps), batch_(batch), count_(shape.count()) {
    const std::int64_t row = count_ + arrangement.gap;
    if (leading == 2) {
      time_ = arrangement.batch_major ? row : row * batch + arrangement.gap;
      sample_ = arrangement.batch_major ? row * steps + arrangement.gap : row;
    } else if (leading == 1) {
      sample_ = row;
    }
    const std::int64_t size =
        (steps + 1) * (std::abs(time_) + 1) + (batch + 1) * (std::abs(sample_) + 1) + row + count_;
    storage_ = Tensor(
        dtype, {std::max<std::int64_t>(size, leading == 2 ? (steps + 1) * (batch + 1) * (row + arrangement.gap) : 0)});
    storage_.fill(kNaN);
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    const auto add = [&](std::int64_t n, std::int64_t stride) {
      sizes.push_back(n);
      strides.push_back(stride);
    };
    if (leading == 2 && arrangement.batch_major) add(batch, sample_);
    if (leading == 2) add(steps, time_);
    if (leading == 1 || (leading == 2 && !arrangement.batch_major)) add(batch, sample_);
    for (int axis = 0; axis < shape.rank(); ++axis) add(shape[axis].size, shape.stride(axis));
    view_ = TensorView(storage_.data(), dtype, TensorShape(sizes, strides));
  }

  TensorView view() const { return view_; }

  void assign(const Values& values) {
    each([&](std::size_t from, void* row) { convert(&values[from], DType::Float64, row, view_.dtype(), count_); });
  }

  Values values() const {
    Values values(static_cast<std::size_t>(steps_ * batch_ * count_));
    each([&](std::size_t to, void* row) { convert(row, view_.dtype(), &values[to], DType::Float64, count_); });
    return values;
  }

  /// Everything but the rows must be as it was.
  void check_gaps() {
    each([&](std::size_t, void* row) {
      const Values nan(static_cast<std::size_t>(count_), kNaN);
      convert(nan.data(), DType::Float64, row, view_.dtype(), count_);
    });
    for (const double value : storage_.to_doubles()) {
      if (!std::isnan(value)) {
        FAIL_CHECK("written outside a tensor");
        return;
      }
    }
  }

 private:
  template <typename Function>
  void each(Function function) const {
    if (count_ == 0) return;
    const auto bytes = static_cast<std::int64_t>(info(view_.dtype()).bytes);
    for (std::int64_t t = 0; t < steps_; ++t) {
      for (std::int64_t b = 0; b < batch_; ++b) {
        function(static_cast<std::size_t>((t * batch_ + b) * count_),
                 static_cast<std::byte*>(view_.data()) + (t * time_ + b * sample_) * bytes);
      }
    }
  }

  Shape shape_;
  std::int64_t steps_;
  std::int64_t batch_;
  std::int64_t count_;
  std::int64_t time_ = 0;
  std::int64_t sample_ = 0;
  Tensor storage_;
  TensorView view_;
};

/// Tensors of one call.
class Call {
 public:
  Call(const Executable& executable, const Cell& cell, const RunArguments& arguments, const Arrangement& arrangement)
      : executable_(executable), cell_(cell), arguments_(arguments), arrangement_(arrangement) {}

  ForwardCall forward() {
    ForwardCall call;
    for (std::size_t i = 0; i < cell_.inputs.size(); ++i) {
      call.inputs.push_back({cell_.inputs[i].name, filled(dtype(), cell_.inputs[i].shape, 2, arguments_.inputs[i])});
    }
    for (std::size_t i = 0; i < cell_.params.size(); ++i) {
      call.params.push_back({cell_.params[i].name, filled(dtype(), cell_.params[i].shape, 0, arguments_.params[i])});
    }
    for (std::size_t i = 0; i < cell_.states.size() && i < arguments_.initial.size(); ++i) {
      if (!arguments_.initial[i]) continue;
      call.initial.push_back(
          {cell_.states[i].name, filled(compute(), cell_.states[i].shape, 1, *arguments_.initial[i])});
    }
    for (const CellOutput& output : cell_.outputs) {
      outputs_.push_back(empty(dtype(), cell_.graph[output.node].shape, 2));
      call.outputs.push_back({output.name, outputs_.back()->view()});
    }
    for (const CellState& state : cell_.states) {
      finals_.push_back(empty(compute(), state.shape, 1));
      call.finals.push_back({state.name, finals_.back()->view()});
    }
    fill_sequence(call.sequence);
    return call;
  }

  RunResults results() {
    RunResults results;
    for (Strip* strip : outputs_) results.outputs.push_back(strip->values());
    for (Strip* strip : finals_) results.finals.push_back(strip->values());
    for (Strip* strip : outputs_) strip->check_gaps();
    for (Strip* strip : finals_) strip->check_gaps();
    return results;
  }

  BackwardCall backward(const Weights& weights, const std::optional<std::vector<std::string>>& wanted) {
    const auto is_wanted = [&](const std::string& name) {
      return !wanted || std::find(wanted->begin(), wanted->end(), name) != wanted->end();
    };
    BackwardCall call;
    for (std::size_t i = 0; i < weights.outputs.size(); ++i) {
      if (weights.outputs[i].empty()) continue;
      const CellOutput& output = cell_.outputs[i];
      call.outputs.push_back({output.name, filled(dtype(), cell_.graph[output.node].shape, 2, weights.outputs[i])});
    }
    for (std::size_t i = 0; i < weights.finals.size(); ++i) {
      if (weights.finals[i].empty()) continue;
      call.finals.push_back({cell_.states[i].name, filled(compute(), cell_.states[i].shape, 1, weights.finals[i])});
    }
    for (const CellInput& input : cell_.inputs) {
      input_grads_.push_back(is_wanted(input.name) ? empty(dtype(), input.shape, 2) : nullptr);
      if (input_grads_.back()) call.inputs.push_back({input.name, input_grads_.back()->view()});
    }
    for (const CellParam& param : cell_.params) {
      const bool asked = param.trained && is_wanted(param.name);
      param_grads_.push_back(asked ? empty(compute(), param.shape, 0) : nullptr);
      if (asked) call.params.push_back({param.name, param_grads_.back()->view()});
    }
    for (const CellState& state : cell_.states) {
      initial_grads_.push_back(is_wanted(state.name) ? empty(compute(), state.shape, 1) : nullptr);
      if (initial_grads_.back()) call.initial.push_back({state.name, initial_grads_.back()->view()});
    }
    return call;
  }

  Gradients gradients() {
    Gradients gradients;
    const auto values_of = [](Strip* strip) { return strip ? strip->values() : Values(); };
    for (Strip* strip : input_grads_) gradients.inputs.push_back(values_of(strip));
    for (Strip* strip : param_grads_) gradients.params.push_back(values_of(strip));
    for (Strip* strip : initial_grads_) gradients.initial.push_back(values_of(strip));
    for (auto* list : {&input_grads_, &param_grads_, &initial_grads_}) {
      for (Strip* strip : *list) {
        if (strip) strip->check_gaps();
      }
    }
    return gradients;
  }

 private:
  DType dtype() const { return executable_.dtype(); }
  DType compute() const { return info(dtype()).compute; }

  Strip* empty(DType dtype, const Shape& shape, int leading) {
    const std::int64_t steps = leading == 2 ? arguments_.steps : 1;
    const std::int64_t batch = leading >= 1 ? arguments_.batch : 1;
    return &strips_.emplace_back(dtype, shape, steps, batch, leading, arrangement_);
  }

  TensorView filled(DType dtype, const Shape& shape, int leading, const Values& values) {
    Strip* strip = empty(dtype, shape, leading);
    strip->assign(values);
    return strip->view();
  }

  /// Flags `[time, batch]` as the call wants them.
  ByteView flags(const std::vector<std::uint8_t>& flags) {
    if (flags.empty()) return {};
    const std::int64_t steps = arguments_.steps;
    const std::int64_t batch = arguments_.batch;
    if (!arrangement_.batch_major) return {flags.data(), {steps, batch}};
    std::vector<std::uint8_t>& turned = bytes_.emplace_back();
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t t = 0; t < steps; ++t) turned.push_back(flags[static_cast<std::size_t>(t * batch + b)]);
    }
    return {turned.data(), {batch, steps}};
  }

  void fill_sequence(SequenceArguments& sequence) {
    sequence.steps = arguments_.steps;
    sequence.batch = arguments_.batch;
    sequence.batch_major = arrangement_.batch_major;
    sequence.mask = flags(arguments_.live);
    sequence.reset = flags(arguments_.reset);
    sequence.reverse = arguments_.reverse;
    sequence.first_step = arguments_.first_step;
    sequence.first_sample = arguments_.first_sample;
    sequence.seed = arguments_.seed;
    sequence.offset = arguments_.offset;
    sequence.layer = arguments_.layer;
    sequence.direction = arguments_.direction;
  }

  const Executable& executable_;
  const Cell& cell_;
  const RunArguments& arguments_;
  Arrangement arrangement_;
  std::deque<Strip> strips_;
  std::deque<std::vector<std::uint8_t>> bytes_;
  std::vector<Strip*> outputs_;
  std::vector<Strip*> finals_;
  std::vector<Strip*> input_grads_;
  std::vector<Strip*> param_grads_;
  std::vector<Strip*> initial_grads_;
};

RunArguments with_reset_input(const Cell& cell, RunArguments arguments) {
  arguments.inputs.resize(cell.inputs.size() + 1);
  return arguments;
}

}  // namespace

RunResults run_forward(const Executable& executable, const Cell& cell, const RunArguments& arguments,
                       const Arrangement& arrangement) {
  Call call(executable, cell, arguments, arrangement);
  executable.forward(call.forward());
  return call.results();
}

TrainingRun run_training(const Executable& executable, const Cell& cell, const RunArguments& arguments,
                         const Weights& weights, const Arrangement& arrangement,
                         const std::optional<std::vector<std::string>>& wanted) {
  Call call(executable, cell, arguments, arrangement);
  Record record = executable.forward_training(call.forward());
  executable.backward(std::move(record), call.backward(weights, wanted));
  return {call.results(), call.gradients()};
}

RunResults expect_forward(const Cell& cell, const RunArguments& arguments) {
  return interpret(add_resets(bind_mode(cell, false)), with_reset_input(cell, arguments));
}

TrainingRun expect_training(const Cell& cell, const RunArguments& arguments, const Weights& weights) {
  const Cell trained = add_resets(bind_mode(cell, true));
  const RunArguments all = with_reset_input(cell, arguments);
  TrainingRun run{interpret(trained, all), gradients(trained, all, weights)};
  run.gradients.inputs.resize(cell.inputs.size());
  return run;
}

}  // namespace cellfuse::testing
