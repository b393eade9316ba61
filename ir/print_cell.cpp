#include <fmt/format.h>

#include "ir/print_node.h"

namespace cellfuse {

namespace {

std::string_view role_of(InputRole role) {
  switch (role) {
    case InputRole::Data: return "";
    case InputRole::Reset: return "  # reset flag";
    case InputRole::OutputGrad: return "  # gradient of an output";
    case InputRole::Record: return "  # recorded";
  }
  return "";
}

std::string declared(const std::string& name, const Shape& shape) {
  return shape.rank() > 0 ? name + shape.str() : name;
}

std::string head(std::string_view level, const Cell& cell) {
  std::string text = fmt::format("{} {}(", level, cell.name);
  bool first = true;
  for (const auto& [name, value] : cell.dims) {
    text += fmt::format("{}{}={}", first ? "" : ", ", name, value);
    first = false;
  }
  return text + (cell.backward ? ") backward {\n" : ") {\n");
}

std::string declarations(const Cell& cell, const ValueNames& names) {
  std::string text;
  for (const CellInput& input : cell.inputs) {
    text += fmt::format("  input  {}{}\n", declared(input.name, input.shape), role_of(input.role));
  }
  for (const CellState& state : cell.states) {
    text += fmt::format("  state  {}", declared(state.name, state.shape));
    text += names.is_inline(state.start) ? fmt::format(" = {}\n", names[state.start]) : "\n";
  }
  for (const CellSampleInput& input : cell.sample_inputs) {
    text += fmt::format("  sample {}\n", declared(input.name, input.shape));
  }
  for (const CellParam& param : cell.params) {
    text += fmt::format("  {} {}\n", param.trained ? "param " : "buffer", declared(param.name, param.shape));
  }
  return text;
}

}  // namespace

std::string print_signature(std::string_view level, const Cell& cell, const ValueNames& names) {
  return head(level, cell) + declarations(cell, names);
}

std::string print_roots(const Cell& cell, const ValueNames& names) {
  std::string text;
  for (const CellState& state : cell.states) {
    if (!names.is_inline(state.start)) text += fmt::format("  start {} = {}\n", state.name, names[state.start]);
  }
  for (const CellState& state : cell.states) text += fmt::format("  {}' = {}\n", state.name, names[state.next]);
  for (const CellOutput& output : cell.outputs) {
    text += fmt::format("  output {} = {}{}\n", declared(output.name, cell.graph[output.node].shape),
                        names[output.node], output.role == OutputRole::Record ? "  # record" : "");
  }
  for (const CellResult& result : cell.results) {
    text += fmt::format("  result {} = {}\n", declared(result.name, cell.graph[result.node].shape), names[result.node]);
  }
  return text;
}

std::string print(const Cell& cell) {
  const std::vector<bool> live = reachable(cell.graph, cell.roots());
  const ValueNames names(cell, live);
  std::string text = print_signature("cell", cell, names) + "\n";
  for (NodeId id = 0; id < cell.graph.size(); ++id) {
    if (live[id] && !names.is_inline(id)) text += "  " + names.definition(id) + "\n";
  }
  return text + print_roots(cell, names) + "}\n";
}

}  // namespace cellfuse
