#include "codegen/cuda/statements.h"

#include <fmt/format.h>

#include "ir/diagnostic.h"

namespace cellfuse::cuda {

using codegen::Linear;

namespace {

/// Longer expressions are broken up by variables.
constexpr std::size_t kLongestExpression = 90;

}  // namespace

Statements::Statements(const KernelFrame& frame, const Elements& elements, std::vector<std::string> variables,
                       Names names)
    : frame_(frame),
      elements_(elements),
      variables_(std::move(variables)),
      names_(std::move(names)),
      bound_(static_cast<std::size_t>(elements.size())),
      replaced_(static_cast<std::size_t>(elements.size())) {}

bool Statements::needs_variable(const Element& element) const {
  if (element.uses == 0 || element.kind == Element::Kind::Constant) return false;
  if (element.kind == Element::Kind::Memory) {
    return !frame_.registers.contains(element.buffer) && !frame_.uniforms.contains(element.buffer);
  }
  const bool is_random = element.kind == Element::Kind::Random;
  return element.uses > 1 || !element.hint.empty() || element.is_read_deeper || is_random;
}

void Statements::declare(Writer& out, const std::function<bool(const Element&)>& wanted) {
  for (int i = 0; i < elements_.size(); ++i) {
    const Element& element = elements_[i];
    auto& bound = bound_[static_cast<std::size_t>(i)];
    if (!bound.empty() || !wanted(element)) continue;
    Expression value = definition(i);
    const bool is_trivial = element.kind == Element::Kind::Constant || element.uses == 0;
    if (!needs_variable(element) && (is_trivial || value.text.size() <= kLongestExpression)) continue;
    bound = names_.unique(element.hint.empty() ? "v" : element.hint);
    out.line(fmt::format("const {} {} = {};", type(element.vector), bound, value.text));
  }
}

Expression Statements::use(int i) const {
  const auto& bound = bound_[static_cast<std::size_t>(i)];
  if (!bound.empty()) return {bound, Expression::Primary};
  return definition(i);
}

Expression Statements::definition(int i) const {
  const Element& element = elements_[i];
  const Node* node = element.node == kNoNode ? nullptr : &frame_.unit.graph[element.node];
  switch (element.kind) {
    case Element::Kind::Constant: {
      std::string text = number(node->value, frame_.unit.compute);
      return {text, text.front() == '-' ? Expression::Prefix : Expression::Primary};
    }
    case Element::Kind::Memory: return memory(i);
    case Element::Kind::Random: return random(element);
    case Element::Kind::Count:
      if (element.vector) return {fmt::format("count_up<Value>({})", index(element.at)), Expression::Primary};
      return {fmt::format("static_cast<Real>({})", index(element.at)), Expression::Primary};
    case Element::Kind::Apply: {
      std::vector<Expression> operands;
      for (int operand : element.operands) operands.push_back(use(operand));
      return spell(node->op, operands, element.vector);
    }
  }
  throw InternalError("codegen/cuda", "unknown element");
}

Expression Statements::memory(int i) const {
  const Element& element = elements_[i];
  const Buffer& buffer = frame_.unit.buffer(element.buffer);
  std::string value = replaced_[static_cast<std::size_t>(i)];
  if (value.empty()) value = load(element.buffer, element.at, element.vector);
  const std::string zero = type(element.vector) + "(0)";
  if (buffer.space == Space::Initial) {
    return {fmt::format("call.{}.data != nullptr ? {} : {}", frame_.unit.field(element.buffer), value, zero),
            Expression::Conditional};
  }
  if (element.zero_when_masked) return {fmt::format("live ? {} : {}", value, zero), Expression::Conditional};
  return {value, Expression::Primary};
}

Expression Statements::random(const Element& element) const {
  const Node& node = frame_.unit.graph[element.node];
  const bool per_sample = node.begin == 0;
  std::string sample = per_sample ? "static_cast<unsigned>(call.first_sample + sample)" : "Draw::kShared";
  std::string step = "Draw::kShared";
  if (!node.flag) {
    step = per_sample ? "static_cast<unsigned>(step)" : "static_cast<unsigned>(call.first_processed + time)";
  }
  return {fmt::format("uniform<{}>(draw_at(&call, {}, {}, {}), {})", type(element.vector), node.index, step, sample,
                      index(element.at)),
          Expression::Primary};
}

Expression Statements::variable(int id) const {
  const auto& part = elements_.indices().variable(id).part;
  if (!part) return {variables_[static_cast<std::size_t>(id)], Expression::Primary};
  const Expression numerator{index(part->numerator), part->numerator.terms.size() > 1 || part->numerator.constant != 0
                                                         ? Expression::Sum
                                                         : Expression::Prefix};
  return {fmt::format("{} {} {}", operand(numerator, Expression::Prefix), part->remainder ? "%" : "/", part->divisor),
          Expression::Product};
}

std::string Statements::index(const Linear& at) const {
  const auto stride = elements_.indices().lane_stride(at);
  const Linear& base = stride ? stride->first : at;
  std::string text;
  for (const auto& [id, coefficient] : base.terms) {
    const Expression factor = variable(id);
    const std::int64_t magnitude = std::abs(coefficient);
    std::string term =
        magnitude == 1 ? factor.text : fmt::format("{} * {}", operand(factor, Expression::Primary), magnitude);
    if (text.empty()) {
      text = coefficient < 0 ? "-" + term : term;
    } else {
      text += (coefficient < 0 ? " - " : " + ") + term;
    }
  }
  if (text.empty()) return fmt::format("{}", base.constant);
  if (base.constant != 0) text += fmt::format(" {} {}", base.constant < 0 ? '-' : '+', std::abs(base.constant));
  return text;
}

std::string Statements::address(int buffer, const Linear& at) const {
  const std::string offset = index(at);
  const std::string row = frame_.row_of(buffer);
  return offset == "0" ? row : row + " + " + offset;
}

/// Whether the lanes at `at` lie at a multiple of their size, whatever the call.
bool Statements::is_aligned(int id, const Linear& at) const {
  const Buffer& buffer = frame_.unit.buffer(id);
  switch (buffer.space) {
    case Space::Workspace:
    case Space::Scratch:
    case Space::State:
    case Space::Accumulator: break;
    default: return false;
  }
  const int lanes = elements_.lanes();
  const auto stride = elements_.indices().lane_stride(at);
  return stride && buffer.elements() % lanes == 0 && elements_.indices().common_factor(stride->first) % lanes == 0;
}

/// What follows `load`, `read` or `store` for a vector: `_aligned`, `_strided` or nothing.
std::string Statements::access(int buffer, const Linear& at) const {
  const auto stride = elements_.indices().lane_stride(at);
  check_internal(stride.has_value(), "codegen/cuda", "lanes at no fixed distance");
  if (stride->second != 1) return "_strided";
  return is_aligned(buffer, at) ? "_aligned" : "";
}

std::string Statements::load(int id, const Linear& at, bool vector) const {
  const Buffer& buffer = frame_.unit.buffer(id);
  if (auto it = frame_.registers.find(id); it != frame_.registers.end()) return it->second;
  if (auto it = frame_.uniforms.find(id); it != frame_.uniforms.end()) return it->second;
  const std::string& field = frame_.unit.field(id);
  if (buffer.space == Space::Reset) return fmt::format("flag_of<Real>(call.{}, time, sample)", field);
  if (buffer.space == Space::StepIndex) {
    return fmt::format("static_cast<Real>(index_of_step(call.{}, &call, time, sample))", field);
  }
  if (buffer.space == Space::InitialGiven) return fmt::format("Real(call.{}.data != nullptr ? 1 : 0)", field);
  std::string function = frame_.changes(id) ? "read" : "load";
  std::string stride;
  if (vector) {
    const std::string how = access(id, at);
    function += how;
    if (how == "_strided") stride = fmt::format(", {}", elements_.indices().lane_stride(at)->second);
  }
  return fmt::format("{}<{}>({}{})", function, type(vector), address(id, at), stride);
}

std::string Statements::store(int id, const Linear& at, const std::string& value, bool vector) const {
  for (const auto* variables : {&frame_.registers, &frame_.uniforms}) {
    if (auto it = variables->find(id); it != variables->end()) return fmt::format("{} = {};", it->second, value);
  }
  const Buffer& buffer = frame_.unit.buffer(id);
  const auto stride = elements_.indices().lane_stride(at);
  const bool has_lanes = vector || (stride && stride->second != 0 && elements_.lanes() > 1);
  std::string function = "store" + (has_lanes ? access(id, at) : std::string());
  std::string arguments = address(id, at);
  if (function == "store_strided") arguments += fmt::format(", {}", stride->second);
  // One value for all lanes is stored once to each.
  const std::string stored = has_lanes && !vector ? "Value(" + value + ")" : value;
  const bool optional = buffer.space == Space::Output || buffer.space == Space::Final || buffer.space == Space::Result;
  const std::string condition = optional ? fmt::format("if (call.{}.data != nullptr) ", frame_.unit.field(id)) : "";
  return fmt::format("{}{}({}, {});", condition, function, arguments, stored);
}

}  // namespace cellfuse::cuda
