#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/diagnostic.h"
#include "runtime/executable_impl.h"

namespace cellfuse {

namespace {

/// An axis of a given tensor, and what the cell declares for it.
struct Equation {
  std::string tensor;
  Dim dim;
  std::int64_t size = 0;
};

std::vector<std::string> open_symbols(const Dim& dim, const DimBinding& known) {
  std::vector<std::string> open;
  for (const std::string& symbol : dim.symbols()) {
    if (!known.contains(symbol)) open.push_back(symbol);
  }
  return open;
}

/// The value of `symbol` for which `dim` has this size, by bisection: dimensions grow with what they are made of.
std::optional<std::int64_t> solve(const Dim& dim, std::int64_t size, const std::string& symbol, DimBinding known) {
  std::int64_t low = 1;
  std::int64_t high = std::max<std::int64_t>(size, 1);
  const auto value = [&](std::int64_t candidate) {
    known[symbol] = candidate;
    return dim.evaluate_real(known);
  };
  while (value(high) && *value(high) < static_cast<double>(size) && high < (std::int64_t{1} << 40)) high *= 2;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const std::optional<double> at_middle = value(middle);
    if (!at_middle) return std::nullopt;
    if (*at_middle < static_cast<double>(size)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  known[symbol] = low;
  return dim.evaluate(known) == size ? std::optional(low) : std::nullopt;
}

class Equations {
 public:
  template <typename Named>
  void add(const char* kind, const std::vector<CellTemplate::Declared>& declared, int leading,
           const std::vector<Named>& given) {
    for (const Named& named : given) {
      const auto found =
          std::find_if(declared.begin(), declared.end(), [&](const auto& d) { return d.name == named.name; });
      if (found == declared.end()) continue;  // reported with the names there are when the call is bound
      const TensorShape& shape = named.tensor.shape();
      if (shape.rank() != leading + static_cast<int>(found->shape.size())) continue;
      for (std::size_t axis = 0; axis < found->shape.size(); ++axis) {
        equations_.push_back({fmt::format("{} `{}`", kind, named.name), found->shape[axis],
                              shape.size(leading + static_cast<int>(axis))});
      }
    }
  }

  /// Binds one symbol after the other, wherever one equation has a single one left.
  void solve_all(DimBinding& known) const {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Equation& equation : equations_) {
        const std::vector<std::string> open = open_symbols(equation.dim, known);
        if (open.size() != 1) continue;
        const auto value = solve(equation.dim, equation.size, open[0], known);
        if (!value) {
          throw UsageError(fmt::format("{}: no {} makes {} equal to {}", equation.tensor, open[0], equation.dim.str(),
                                       equation.size));
        }
        known[open[0]] = *value;
        changed = true;
      }
    }
  }

 private:
  std::vector<Equation> equations_;
};

}  // namespace

DimBinding infer_dims(const CellTemplate& cell, const DimBinding& known, const ForwardCall& call) {
  Equations equations;
  equations.add("input", cell.inputs, 2, call.inputs);
  equations.add("param", cell.params, 0, call.params);
  equations.add("initial state", cell.states, 1, call.initial);
  equations.add("final state", cell.states, 1, call.finals);
  DimBinding dims = known;
  equations.solve_all(dims);
  std::vector<std::string> open;
  for (const std::string& dim : cell.dims) {
    const auto fallback = cell.default_dims.find(dim);
    if (!dims.contains(dim) && fallback != cell.default_dims.end()) dims.insert(*fallback);
    if (!dims.contains(dim)) open.push_back(dim);
  }
  if (!open.empty()) {
    throw UsageError(fmt::format("no tensor of the call shows what {} of cell `{}` is; give it to compile()",
                                 fmt::join(open, ", "), cell.name));
  }
  return dims;
}

}  // namespace cellfuse
