#include "ir/call_reader.h"

#include <algorithm>

#include "ir/diagnostic.h"

namespace cellfuse {

CallReader::CallReader(const Cell& cell, const RunArguments& arguments) : cell_(cell), arguments_(arguments) {
  check();
  step_indices_ = step_indices(arguments);
}

void CallReader::check_size(const std::string& what, std::size_t got, std::int64_t want) const {
  if (static_cast<std::int64_t>(got) == want) return;
  throw UsageError(what + " of cell `" + cell_.name + "` has " + std::to_string(got) + " elements, expected " +
                   std::to_string(want));
}

void CallReader::check() const {
  const std::int64_t places = arguments_.steps * arguments_.batch;
  check_size("the list of inputs", arguments_.inputs.size(), static_cast<std::int64_t>(cell_.inputs.size()));
  for (std::size_t i = 0; i < cell_.inputs.size(); ++i) {
    const CellInput& input = cell_.inputs[i];
    if (input.role == InputRole::Reset) continue;
    check_size("input `" + input.name + "`", arguments_.inputs[i].size(), places * input.shape.count());
  }
  check_size("the list of params", arguments_.params.size(), static_cast<std::int64_t>(cell_.params.size()));
  for (std::size_t i = 0; i < cell_.params.size(); ++i) {
    check_size("param `" + cell_.params[i].name + "`", arguments_.params[i].size(), cell_.params[i].shape.count());
  }
  check_initial();
  if (!arguments_.live.empty()) check_size("the mask", arguments_.live.size(), places);
  if (!arguments_.reset.empty()) check_size("the reset flags", arguments_.reset.size(), places);
}

void CallReader::check_initial() const {
  const std::size_t states = cell_.states.size();
  for (std::size_t i = 0; i < arguments_.initial.size(); ++i) {
    if (i >= states + cell_.sample_inputs.size()) throw UsageError("more initial values than states and sample inputs");
    if (!arguments_.initial[i]) continue;
    const Shape& shape = i < states ? cell_.states[i].shape : cell_.sample_inputs[i - states].shape;
    const std::string& name = i < states ? cell_.states[i].name : cell_.sample_inputs[i - states].name;
    check_size("the initial value of `" + name + "`", arguments_.initial[i]->size(), arguments_.batch * shape.count());
  }
}

bool CallReader::is_live(std::int64_t time, std::int64_t sample) const {
  return arguments_.live.empty() || arguments_.live[static_cast<std::size_t>(time * arguments_.batch + sample)] != 0;
}

StepPoint CallReader::point(std::int64_t sample) const {
  StepPoint point(arguments_);
  point.sample = arguments_.first_sample + sample;
  return point;
}

StepPoint CallReader::point(std::int64_t time, std::int64_t sample) const {
  StepPoint point = this->point(sample);
  point.step = step_indices_[static_cast<std::size_t>(time * arguments_.batch + sample)];
  point.processed = arguments_.first_step + (arguments_.reverse ? arguments_.steps - 1 - time : time);
  return point;
}

void CallReader::read(const Node& leaf, std::int64_t time, std::int64_t sample, const double* state,
                      double* result) const {
  const std::int64_t count = leaf.shape.count();
  const auto index = static_cast<std::size_t>(leaf.index);
  const std::int64_t place = time * arguments_.batch + sample;
  const bool given = index < arguments_.initial.size() && arguments_.initial[index].has_value();
  switch (leaf.op) {
    case Op::Input:
      if (cell_.inputs[index].role == InputRole::Reset) {
        *result = !arguments_.reset.empty() && arguments_.reset[static_cast<std::size_t>(place)] != 0 ? 1.0 : 0.0;
      } else {
        std::copy_n(arguments_.inputs[index].data() + place * count, count, result);
      }
      return;
    case Op::Param: std::copy_n(arguments_.params[index].data(), count, result); return;
    case Op::State:
    case Op::Final: std::copy_n(state, count, result); return;
    case Op::InitialGiven: *result = given ? 1.0 : 0.0; return;
    case Op::Initial:
      if (given) {
        std::copy_n(arguments_.initial[index]->data() + sample * count, count, result);
      } else {
        std::fill_n(result, count, 0.0);
      }
      return;
    default: evaluate(leaf, {}, leaf.domain == Domain::Step ? point(time, sample) : point(sample), result);
  }
}

}  // namespace cellfuse
