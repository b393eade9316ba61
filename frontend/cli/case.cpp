#include "frontend/cli/case.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include <nlohmann/json.hpp>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

using Json = nlohmann::json;

void flatten(const Json& json, Values& values) {
  if (json.is_array()) {
    for (const Json& element : json) flatten(element, values);
  } else {
    values.push_back(json.get<double>());
  }
}

Values flat(const Json& json) {
  Values values;
  flatten(json, values);
  return values;
}

NamedValues named_values(const Json& json) {
  NamedValues result;
  for (const auto& [name, array] : json.items()) {
    result[name] = array.is_null() ? std::optional<Values>() : std::optional<Values>(flat(array));
  }
  return result;
}

CaseVariant read_variant(const std::string& name, const Json& json) {
  CaseVariant variant;
  variant.name = name;
  if (json.contains("lengths")) variant.lengths = json["lengths"].get<std::vector<std::int64_t>>();
  if (json.contains("reverse")) variant.reverse = json["reverse"].get<bool>();
  if (json.contains("reset")) {
    for (double flag : flat(json["reset"])) variant.reset.push_back(flag != 0 ? 1 : 0);
  }
  if (json.contains("initial")) variant.initial = named_values(json["initial"]);
  variant.outputs = named_values(json.at("outputs"));
  variant.final = named_values(json.at("final"));
  variant.loss = json.at("loss").get<double>();
  const Json& grads = json.at("grads");
  variant.param_grads = named_values(grads.at("params"));
  variant.input_grads = named_values(grads.at("inputs"));
  variant.initial_grads = named_values(grads.at("initial"));
  return variant;
}

Case read_case(const Json& json) {
  Case result;
  result.cell = json.at("cell").get<std::string>();
  result.dims = json.at("dims").get<DimBinding>();
  result.steps = json.at("steps").get<std::int64_t>();
  result.batch = json.at("batch").get<std::int64_t>();
  result.inputs = named_values(json.at("inputs"));
  result.params = named_values(json.at("params"));
  result.params.merge(named_values(json.at("buffers")));
  result.variants.push_back(read_variant("plain", json));
  if (json.contains("variants")) {
    for (const auto& [name, variant] : json["variants"].items()) {
      result.variants.push_back(read_variant(name, variant));
      if (!variant.contains("initial")) result.variants.back().initial = result.variants.front().initial;
    }
  }
  return result;
}

Values find(const NamedValues& values, const std::string& name, std::int64_t count) {
  auto it = values.find(name);
  if (it == values.end() || !it->second) throw UsageError("the case has no array `" + name + "`");
  if (static_cast<std::int64_t>(it->second->size()) != count) {
    throw UsageError("array `" + name + "` of the case has " + std::to_string(it->second->size()) +
                     " elements, the cell needs " + std::to_string(count));
  }
  return *it->second;
}

std::vector<std::uint8_t> mask_of(const std::vector<std::int64_t>& lengths, std::int64_t steps, std::int64_t batch) {
  if (lengths.empty()) return {};
  if (static_cast<std::int64_t>(lengths.size()) != batch) throw UsageError("the case needs one length for each sample");
  std::vector<std::uint8_t> live;
  for (std::int64_t time = 0; time < steps; ++time) {
    for (std::int64_t length : lengths) live.push_back(time < length ? 1 : 0);
  }
  return live;
}

}  // namespace

Case load_case(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("cannot read `" + path + "`");
  try {
    return read_case(Json::parse(file));
  } catch (const Json::exception& error) {
    throw UsageError("`" + path + "` is not a case: " + error.what());
  }
}

RunArguments run_arguments(const Case& test, const CaseVariant& variant, const Cell& cell) {
  RunArguments arguments;
  arguments.steps = test.steps;
  arguments.batch = test.batch;
  for (const CellInput& input : cell.inputs) {
    const std::int64_t count = test.steps * test.batch * input.shape.count();
    arguments.inputs.push_back(input.role == InputRole::Reset ? Values() : find(test.inputs, input.name, count));
  }
  for (const CellParam& param : cell.params) {
    arguments.params.push_back(find(test.params, param.name, param.shape.count()));
  }
  for (const CellState& state : cell.states) {
    auto it = variant.initial.find(state.name);
    if (it == variant.initial.end() || !it->second) {
      arguments.initial.emplace_back();
    } else {
      arguments.initial.emplace_back(find(variant.initial, state.name, test.batch * state.shape.count()));
    }
  }
  arguments.live = mask_of(variant.lengths, test.steps, test.batch);
  arguments.reset = variant.reset;
  arguments.reverse = variant.reverse;
  return arguments;
}

Values loss_weights(std::size_t index, std::int64_t steps, std::int64_t batch, std::int64_t count) {
  Values weights;
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t k = 0; k < count; ++k) {
        weights.push_back(std::cos(0.5 + static_cast<double>(k) + 0.3 * static_cast<double>(t) +
                                   0.9 * static_cast<double>(b) + 0.25 * static_cast<double>(index)));
      }
    }
  }
  return weights;
}

double scaled_error(std::span<const double> got, std::span<const double> want) {
  if (got.size() != want.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    const double error = std::abs(got[i] - want[i]) / (1 + std::abs(want[i]));
    largest = std::isfinite(error) ? std::max(largest, error) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

}  // namespace cellfuse
