#include "tests/support/gradients.h"

#include <algorithm>
#include <cmath>

#include "frontend/cli/case.h"
#include "ir/interpret_cell.h"
#include "passes/differentiate.h"

namespace cellfuse::testing {

namespace {

double dot(const std::vector<Values>& values, const std::vector<Values>& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t k = 0; k < weights[i].size(); ++k) sum += weights[i][k] * values[i][k];
  }
  return sum;
}

Values or_zeros(const std::vector<Values>& list, std::size_t index, std::int64_t count) {
  if (index < list.size() && !list[index].empty()) return list[index];
  return Values(static_cast<std::size_t>(count), 0.0);
}

std::vector<std::optional<Values>> padded(std::vector<std::optional<Values>> initial, std::size_t size) {
  initial.resize(size);
  return initial;
}

void add(std::vector<Values>& to, const std::vector<Values>& from) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t k = 0; k < from[i].size(); ++k) to[i][k] += from[i][k];
  }
}

}  // namespace

double loss(const RunResults& results, const Weights& weights) {
  return dot(results.outputs, weights.outputs) + dot(results.finals, weights.finals) +
         dot(results.results, weights.results);
}

RunArguments backward_arguments(const Cell& cell, const RunArguments& arguments, const RunResults& results,
                                const Weights& weights) {
  RunArguments backward = arguments;
  const std::int64_t places = arguments.steps * arguments.batch;
  for (const Values& history : results.history) backward.inputs.push_back(history);
  for (std::size_t i = 0; i < cell.outputs.size(); ++i) {
    backward.inputs.push_back(or_zeros(weights.outputs, i, places * cell.graph[cell.outputs[i].node].shape.count()));
  }
  backward.initial.clear();
  for (std::size_t i = 0; i < cell.states.size(); ++i) {
    const bool given = i < weights.finals.size() && !weights.finals[i].empty();
    backward.initial.push_back(given ? std::optional<Values>(weights.finals[i]) : std::nullopt);
  }
  for (auto& value : padded(arguments.initial, cell.states.size() + cell.sample_inputs.size())) {
    backward.initial.push_back(value);
  }
  for (std::size_t i = 0; i < cell.results.size(); ++i) {
    const std::int64_t count = cell.graph[cell.results[i].node].shape.count();
    if (cell.results[i].domain == Domain::Once) {
      backward.params.push_back(or_zeros(weights.results, i, count));
    } else {
      backward.initial.emplace_back(or_zeros(weights.results, i, arguments.batch * count));
    }
  }
  return backward;
}

Gradients sort_gradients(const Cell& cell, const RunResults& backward) {
  Gradients result;
  std::size_t output = 0;
  for (const CellInput& input : cell.inputs) {
    result.inputs.push_back(input.role == InputRole::Reset ? Values() : backward.outputs[output++]);
  }
  std::size_t next = 0;
  for (const CellParam& param : cell.params) {
    result.params.push_back(param.trained ? backward.results[next++] : Values());
  }
  result.initial.assign(backward.results.begin() + static_cast<std::ptrdiff_t>(next), backward.results.end());
  return result;
}

Gradients gradients(const Cell& cell, const Cell& derivative, const RunArguments& arguments, const Weights& weights) {
  const RunResults forward = interpret(cell, arguments);
  return sort_gradients(cell, interpret(derivative, backward_arguments(cell, arguments, forward, weights)));
}

Gradients gradients(const Cell& cell, const RunArguments& arguments, const Weights& weights) {
  const Cell derivative = differentiate(cell);
  verify(derivative);
  return gradients(cell, derivative, arguments, weights);
}

double dot(const Gradients& gradients, const Gradients& directions) {
  return dot(gradients.inputs, directions.inputs) + dot(gradients.params, directions.params) +
         dot(gradients.initial, directions.initial);
}

Gradients double_gradients(const Cell& cell, const RunArguments& arguments, const Weights& weights,
                           const Gradients& directions) {
  const RunResults forward = interpret(cell, arguments);
  const Cell derivative = differentiate(cell);
  const RunArguments backward = backward_arguments(cell, arguments, forward, weights);

  Weights second;
  for (std::size_t i = 0; i < cell.inputs.size(); ++i) {
    if (cell.inputs[i].role != InputRole::Reset) second.outputs.push_back(directions.inputs[i]);
  }
  for (std::size_t i = 0; i < cell.params.size(); ++i) {
    if (cell.params[i].trained) second.results.push_back(directions.params[i]);
  }
  second.results.insert(second.results.end(), directions.initial.begin(), directions.initial.end());
  const Gradients of_derivative = gradients(derivative, backward, second);

  // Through the states before each step, which the derivative takes as inputs.
  Cell with_states = cell;
  Weights through;
  through.outputs.resize(cell.outputs.size());
  for (std::size_t i = 0; i < cell.states.size(); ++i) {
    const CellState& state = cell.states[i];
    const Expr before = leaf(with_states.graph, Op::State, static_cast<std::int32_t>(i), state.shape);
    with_states.outputs.push_back({state.name + "_before", before.id, OutputRole::Data});
    through.outputs.push_back(of_derivative.inputs[cell.inputs.size() + i]);
  }
  Gradients total = gradients(with_states, arguments, through);
  const std::size_t inputs = cell.inputs.size();
  const std::size_t params = cell.params.size();
  const auto states = static_cast<std::ptrdiff_t>(cell.states.size());
  const auto initial = of_derivative.initial.begin() + states;
  add(total.inputs, {of_derivative.inputs.begin(), of_derivative.inputs.begin() + static_cast<std::ptrdiff_t>(inputs)});
  add(total.params, {of_derivative.params.begin(), of_derivative.params.begin() + static_cast<std::ptrdiff_t>(params)});
  add(total.initial, {initial, initial + static_cast<std::ptrdiff_t>(total.initial.size())});
  return total;
}

Gradients differences(const RunArguments& arguments, const Gradients& like,
                      const std::function<double(const RunArguments&)>& function, double step) {
  RunArguments moved = arguments;
  auto of_array = [&](Values& values, const Values& wanted) {
    Values result;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const double at = values[k];
      values[k] = at + step;
      const double above = function(moved);
      values[k] = at - step;
      const double below = function(moved);
      values[k] = at;
      result.push_back((above - below) / (2 * step));
    }
    return result;
  };
  Gradients result;
  for (std::size_t i = 0; i < like.inputs.size(); ++i) {
    result.inputs.push_back(of_array(moved.inputs[i], like.inputs[i]));
  }
  for (std::size_t i = 0; i < like.params.size(); ++i) {
    result.params.push_back(of_array(moved.params[i], like.params[i]));
  }
  for (std::size_t i = 0; i < like.initial.size(); ++i) {
    const bool given = i < moved.initial.size() && moved.initial[i];
    result.initial.push_back(given ? of_array(*moved.initial[i], like.initial[i])
                                   : Values(like.initial[i].size(), 0.0));
  }
  return result;
}

double scaled_error(const Gradients& got, const Gradients& want) {
  double largest = 0;
  auto compare = [&largest](const std::vector<Values>& a, const std::vector<Values>& b) {
    if (a.size() != b.size()) largest = HUGE_VAL;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      largest = std::max(largest, cellfuse::scaled_error(a[i], b[i]));
    }
  };
  compare(got.inputs, want.inputs);
  compare(got.params, want.params);
  compare(got.initial, want.initial);
  return largest;
}

Values RandomRun::values(std::int64_t count, double low, double high) {
  std::uniform_real_distribution<double> uniform(low, high);
  Values result(static_cast<std::size_t>(count));
  for (double& value : result) value = uniform(engine_);
  return result;
}

RunArguments RandomRun::arguments(const Cell& cell, std::int64_t steps, std::int64_t batch) {
  RunArguments result;
  result.steps = steps;
  result.batch = batch;
  for (const CellInput& input : cell.inputs) {
    const std::int64_t count = steps * batch * input.shape.count();
    result.inputs.push_back(input.role == InputRole::Reset ? Values() : values(count));
  }
  for (const CellParam& param : cell.params) result.params.push_back(values(param.shape.count()));
  for (const CellState& state : cell.states) result.initial.emplace_back(values(batch * state.shape.count()));
  return result;
}

Weights RandomRun::weights(const Cell& cell, const RunArguments& arguments, bool outputs, bool finals) {
  Weights result;
  for (const CellOutput& output : cell.outputs) {
    const std::int64_t count = arguments.steps * arguments.batch * cell.graph[output.node].shape.count();
    if (outputs) result.outputs.push_back(values(count));
  }
  for (const CellState& state : cell.states) {
    if (finals) result.finals.push_back(values(arguments.batch * state.shape.count()));
  }
  return result;
}

Gradients RandomRun::directions(const Gradients& like) {
  Gradients result = like;
  for (auto* list : {&result.inputs, &result.params, &result.initial}) {
    for (Values& array : *list) array = values(static_cast<std::int64_t>(array.size()));
  }
  return result;
}

std::vector<std::uint8_t> RandomRun::flags(std::int64_t count, double share) {
  std::bernoulli_distribution flip(share);
  std::vector<std::uint8_t> result(static_cast<std::size_t>(count));
  for (std::uint8_t& flag : result) flag = flip(engine_) ? 1 : 0;
  return result;
}

}  // namespace cellfuse::testing
