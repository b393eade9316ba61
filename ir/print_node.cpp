#include "ir/print_node.h"

#include <fmt/format.h>

#include <algorithm>

namespace cellfuse {

namespace {

std::string summed_over(const Node& node) {
  std::string text = summed_from(node) == Domain::Step ? "steps" : "";
  if (node.domain == Domain::Once) text += text.empty() ? "samples" : ", samples";
  return text;
}

}  // namespace

std::string_view operator_of(Op op) {
  switch (op) {
    case Op::Neg: return "-";
    case Op::Add: return "+";
    case Op::Sub: return "-";
    case Op::Mul: return "*";
    case Op::Div: return "/";
    case Op::Lt: return "<";
    case Op::Le: return "<=";
    case Op::Gt: return ">";
    case Op::Ge: return ">=";
    case Op::Eq: return "==";
    case Op::Ne: return "!=";
    case Op::And: return "and";
    case Op::Or: return "or";
    case Op::Not: return "not ";
    default: return {};
  }
}

std::string_view name(Domain domain) {
  switch (domain) {
    case Domain::Once: return "once";
    case Domain::Sample: return "sample";
    default: return "step";
  }
}

ValueNames::ValueNames(const Cell& cell, const std::vector<bool>& live) : cell_(cell), names_(cell.graph.size()) {
  for (const CellInput& input : cell.inputs) used_.insert(input.name);
  for (const CellParam& param : cell.params) used_.insert(param.name);
  for (const CellState& state : cell.states) used_.insert(state.name);
  int number = 0;
  for (NodeId id = 0; id < cell.graph.size(); ++id) {
    if (!live[id]) continue;
    if (is_inline(id)) {
      names_[id] = leaf(cell.graph[id]);
    } else if (const std::string& given = cell.graph.name(id); !given.empty()) {
      names_[id] = unique(given);
    } else {
      names_[id] = fmt::format("%{}", number++);
    }
  }
}

std::string ValueNames::unique(const std::string& name) {
  std::string candidate = name;
  while (!used_.insert(candidate).second) candidate = fmt::format("{}.{}", name, ++suffixes_[name]);
  return candidate;
}

bool ValueNames::is_inline(NodeId id) const {
  const Op op = cell_.graph[id].op;
  return is_leaf(op) && op != Op::Iota && op != Op::Random;
}

std::string ValueNames::initial_name(std::int32_t index) const {
  const auto i = static_cast<std::size_t>(index);
  const std::size_t states = cell_.states.size();
  return i < states ? cell_.states[i].name : cell_.sample_inputs.at(i - states).name;
}

std::string ValueNames::leaf(const Node& node) const {
  const auto index = static_cast<std::size_t>(node.index);
  switch (node.op) {
    case Op::Constant: return fmt::format("{}", node.value);
    case Op::Input: return cell_.inputs.at(index).name;
    case Op::State: return cell_.states.at(index).name;
    case Op::Param: return cell_.params.at(index).name;
    case Op::Initial: return fmt::format("initial({})", initial_name(node.index));
    case Op::InitialGiven: return fmt::format("given({})", initial_name(node.index));
    case Op::Final: return fmt::format("final({})", cell_.states.at(index).name);
    case Op::Placeholder: return fmt::format("gradient.{}", node.index);
    default: return std::string(cellfuse::name(node.op));
  }
}

std::string ValueNames::arguments(const Node& node) const {
  std::string text;
  for (NodeId operand : node.operands) {
    if (!text.empty()) text += ", ";
    const Node& x = cell_.graph[operand];
    const bool sized = x.op == Op::Constant && x.shape.rank() > 0 && !is_elementwise(node.op);
    text += sized ? fmt::format("full({}, {})", x.shape.str(), names_[operand]) : names_[operand];
  }
  return text;
}

std::string ValueNames::elementwise_expression(const Node& node) const {
  const std::string_view symbol = operator_of(node.op);
  if (symbol.empty()) return fmt::format("{}({})", cellfuse::name(node.op), arguments(node));
  if (node.operands.size() == 1) return fmt::format("{}{}", symbol, names_[node.operands[0]]);
  return fmt::format("{} {} {}", names_[node.operands[0]], symbol, names_[node.operands[1]]);
}

std::string ValueNames::slice(const Node& node) const {
  std::string text = names_[node.operands[0]] + "[";
  for (int axis = 0; axis < node.axis; ++axis) text += ":, ";
  return text + fmt::format("{}:{}]", node.begin, node.end);
}

std::string ValueNames::with_grad(const Node& node) const {
  const std::size_t count = node.operands.size() / 2;
  std::string text = fmt::format("with_grad.{}({}", node.index, names_[node.operands[0]]);
  for (std::size_t i = 1; i <= count; ++i) {
    text += fmt::format(", {} <- {}", names_[node.operands[i]], names_[node.operands[count + i]]);
  }
  return text + ")";
}

std::string ValueNames::expression(NodeId id) const {
  const Node& node = cell_.graph[id];
  if (is_inline(id)) return names_[id];
  if (is_elementwise(node.op)) return elementwise_expression(node);
  const std::string_view op = cellfuse::name(node.op);
  switch (node.op) {
    case Op::Iota: return fmt::format("iota({}, axis={})", node.shape.str(), node.axis);
    case Op::Random:
      return fmt::format("random.{}({}{}{})", node.index, node.shape.str(), node.flag ? ", shared by steps" : "",
                         node.begin != 0 ? ", shared by samples" : "");
    case Op::Slice: return slice(node);
    case Op::Concat: return fmt::format("concat({}, axis={})", arguments(node), node.axis);
    case Op::Reshape: return fmt::format("reshape({}, {})", arguments(node), node.shape.str());
    case Op::Broadcast: {
      const int rank = cell_.graph[node.operands[0]].shape.rank();
      return fmt::format("broadcast({}, {}, axes=[{}])", arguments(node), node.shape.str(),
                         fmt::join(node.axes.begin(), node.axes.begin() + rank, ", "));
    }
    case Op::Sum:
    case Op::Prod:
    case Op::AMax:
    case Op::AMin: return fmt::format("{}({}, axis={})", op, arguments(node), node.axis);
    case Op::CumSum:
      return fmt::format("cumsum({}, axis={}{})", arguments(node), node.axis, node.flag ? ", from the end" : "");
    case Op::MatMul: return fmt::format("{} @ {}", names_[node.operands[0]], names_[node.operands[1]]);
    case Op::WithGrad: return with_grad(node);
    case Op::Accumulate:
    case Op::AccumulateOuter: return fmt::format("{}({}; {})", op, arguments(node), summed_over(node));
    case Op::Linear: {
      const std::string& x = names_[node.operands[0]];
      const std::string& w = names_[node.operands[1]];
      return node.flag ? fmt::format("linear({}, {})", x, w) : fmt::format("linear({}, {})", w, x);
    }
    default: return fmt::format("{}({})", op, arguments(node));
  }
}

std::string ValueNames::definition(NodeId id) const {
  const Node& node = cell_.graph[id];
  std::string type = node.shape.rank() > 0 ? ": " + node.shape.str() : "";
  if (node.domain != Domain::Step) type += fmt::format("{}{}", type.empty() ? ": " : " ", cellfuse::name(node.domain));
  return fmt::format("{}{} = {}", names_[id], type, expression(id));
}

}  // namespace cellfuse
