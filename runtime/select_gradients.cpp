#include <fmt/format.h>

#include <algorithm>

#include "ir/diagnostic.h"
#include "runtime/lower.h"

namespace cellfuse {

namespace {

/// Removes the entries whose index in `keep` is false and tells where the others went (-1: nowhere).
template <typename Entry>
std::vector<int> keep_only(std::vector<Entry>& entries, const std::vector<bool>& keep) {
  std::vector<int> place(entries.size(), -1);
  std::vector<Entry> kept;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!keep[i]) continue;
    place[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(entries[i]));
  }
  entries = std::move(kept);
  return place;
}

class Selection {
 public:
  explicit Selection(const std::optional<std::vector<std::string>>& wanted) : wanted_(wanted) {
    if (wanted_) found_.resize(wanted_->size());
  }

  bool wants(const std::string& name) {
    if (!wanted_) return true;
    const auto at = std::find(wanted_->begin(), wanted_->end(), name);
    if (at == wanted_->end()) return false;
    found_[static_cast<std::size_t>(at - wanted_->begin())] = true;
    return true;
  }

  void check_all_found(const std::string& cell) const {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i]) continue;
      throw CompileError(
          fmt::format("cell `{}` has no input, param or state `{}` to compute a gradient of", cell, (*wanted_)[i]));
    }
  }

 private:
  const std::optional<std::vector<std::string>>& wanted_;
  std::vector<bool> found_;
};

}  // namespace

GradientMap select_gradients(const Cell& forward, Cell& derivative,
                             const std::optional<std::vector<std::string>>& wanted) {
  Selection selection(wanted);
  GradientMap map;
  std::vector<bool> keep_outputs;
  std::vector<bool> keep_results;
  for (const CellInput& input : forward.inputs) {
    const bool has_gradient = input.role != InputRole::Reset;
    map.inputs.push_back(has_gradient ? static_cast<int>(keep_outputs.size()) : -1);
    if (has_gradient) keep_outputs.push_back(selection.wants(input.name));
  }
  for (const CellParam& param : forward.params) {
    map.params.push_back(param.trained ? static_cast<int>(keep_results.size()) : -1);
    if (param.trained) keep_results.push_back(selection.wants(param.name));
  }
  for (const CellState& state : forward.states) {
    map.states.push_back(static_cast<int>(keep_results.size()));
    keep_results.push_back(selection.wants(state.name));
  }
  selection.check_all_found(forward.name);
  keep_results.resize(derivative.results.size(), !wanted);  // sample inputs of a cell that is a derivative itself
  check_internal(keep_outputs.size() == derivative.outputs.size(), "select_gradients", "outputs of the derivative");

  const std::vector<int> outputs = keep_only(derivative.outputs, keep_outputs);
  const std::vector<int> results = keep_only(derivative.results, keep_results);
  const auto follow = [](std::vector<int>& places, const std::vector<int>& moved) {
    for (int& place : places) {
      if (place >= 0) place = moved[static_cast<std::size_t>(place)];
    }
  };
  follow(map.inputs, outputs);
  follow(map.params, results);
  follow(map.states, results);
  return map;
}

}  // namespace cellfuse
