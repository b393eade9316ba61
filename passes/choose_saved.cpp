#include "passes/choose_saved.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/diagnostic.h"
#include "passes/min_cut.h"
#include "passes/primal.h"
#include "passes/rewrite.h"

namespace cellfuse {

namespace {

constexpr std::string_view kModeNames[] = {"fast", "balanced", "small"};

bool may_recompute(Op op, MemoryMode mode) {
  if (is_reduction(op) || op == Op::CumSum) return mode == MemoryMode::Small;
  if (is_view(op)) return true;
  if (!is_elementwise(op) && !is_leaf(op)) return false;
  return cost(op) <= Cost::Cheap || mode != MemoryMode::Fast;
}

class Chooser {
 public:
  Chooser(const Cell& forward, const Cell& backward, MemoryMode mode, DType dtype)
      : forward_(forward),
        backward_(backward),
        mode_(mode),
        element_bytes_(static_cast<std::int64_t>(info(dtype).bytes)),
        inputs_(forward.inputs.size()),
        had_(forward.graph.size()),
        primal_(find_primal(forward_, backward)) {
    forward_live_ = reachable(forward.graph, forward.roots());
  }

  SavedProgram run() {
    find_cut();
    name_fields();
    SavedProgram program;
    build_forward(program);
    build_backward(program);
    report(program);
    return program;
  }

 private:
  const Node& node(NodeId id) const { return backward_.graph[id]; }
  std::int64_t bytes(NodeId id) const { return node(id).shape.count() * element_bytes_; }
  /// The state before the step. (A forward cell that is itself a derivative reads records of its own, which stay.)
  bool is_record(NodeId id) const {
    return node(id).op == Op::Input && is_record(static_cast<std::size_t>(node(id).index));
  }
  bool is_record(std::size_t input) const { return input >= inputs_ && input < inputs_ + forward_.states.size(); }
  /// Known to backward without being saved or computed: what the caller keeps, and what is the same at all steps.
  bool is_free(NodeId id) const {
    if (node(id).domain != Domain::Step) return true;
    return is_leaf(node(id).op) && node(id).op != Op::Random && !is_record(id);
  }
  bool is_recomputable(NodeId id) const { return !is_record(id) && may_recompute(node(id).op, mode_); }

  std::int64_t price(NodeId id) const;
  void find_cut();
  std::string given_name(NodeId id) const;
  std::string base_name(NodeId id) const;
  void name_fields();
  std::string reason(NodeId id) const;
  void build_forward(SavedProgram& program) const;
  void build_backward(SavedProgram& program) const;
  void report(SavedProgram& program) const;

  Cell forward_;
  const Cell& backward_;
  MemoryMode mode_;
  std::int64_t element_bytes_;
  std::size_t inputs_;  ///< of the forward cell
  std::size_t had_;     ///< nodes the forward graph had
  Primal primal_;
  std::vector<bool> forward_live_;
  std::vector<NodeId> saved_;  ///< ids of the backward graph
  std::vector<std::string> names_;
};

/// Bytes first, then the number of fields, then whether forward has the value anyway.
std::int64_t Chooser::price(NodeId id) const {
  constexpr std::int64_t kByte = 1 << 20;
  constexpr std::int64_t kField = 2;
  // What a view shows is saved rather than the view; a slice may be all that is needed.
  if (is_view(node(id).op) && node(id).op != Op::Slice) return MinCut::kInfinite;
  NodeId place = primal_.place[id];
  bool exists = place < had_ && forward_live_[place];
  return bytes(id) * kByte + kField + (exists ? 0 : 1);
}

void Chooser::find_cut() {
  const auto count = static_cast<int>(backward_.graph.size());
  const int source = 2 * count;
  const int sink = source + 1;
  auto in = [](NodeId id) { return 2 * static_cast<int>(id); };
  auto out = [](NodeId id) { return 2 * static_cast<int>(id) + 1; };
  MinCut cut(2 * count + 2);
  std::vector<NodeId> candidates;
  for (NodeId id = 0; id < backward_.graph.size(); ++id) {
    if (!primal_.member[id] || is_free(id)) continue;
    candidates.push_back(id);
    cut.add_edge(in(id), out(id), price(id));
    if (primal_.needed[id]) cut.add_edge(out(id), sink, MinCut::kInfinite);
    if (!is_recomputable(id)) {
      cut.add_edge(source, in(id), MinCut::kInfinite);
      continue;
    }
    for (NodeId operand : node(id).operands) {
      if (!is_free(operand)) cut.add_edge(out(operand), in(id), MinCut::kInfinite);
    }
  }
  std::vector<bool> below = cut.sink_side(source, sink);
  for (NodeId id : candidates) {
    bool cut_here = below[static_cast<std::size_t>(out(id))] && !below[static_cast<std::size_t>(in(id))];
    if (cut_here) saved_.push_back(id);
  }
}

/// The user's name of a value, `prev_h` for a state before the step, `sigmoid_f` for the sigmoid of f.
std::string Chooser::base_name(NodeId id) const {
  if (is_record(id)) return "prev_" + forward_.states[static_cast<std::size_t>(node(id).index) - inputs_].name;
  const std::string given = given_name(id);
  if (!given.empty()) return given;
  std::string base(cellfuse::name(node(id).op));
  for (NodeId operand : node(id).operands) {
    const std::string of = given_name(operand);
    if (!of.empty()) return base + "_" + of;
  }
  return base;
}

/// The user's name, with `c'` as `next_c`.
std::string Chooser::given_name(NodeId id) const {
  if (!primal_.member[id]) return {};
  std::string given = forward_.graph.name(primal_.place[id]);
  if (given.ends_with('\'')) given = "next_" + given.substr(0, given.size() - 1);
  return given;
}

void Chooser::name_fields() {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < backward_.inputs.size(); ++i) {
    if (!is_record(i)) taken.insert(backward_.inputs[i].name);
  }
  for (const CellOutput& output : forward_.outputs) taken.insert(output.name);
  for (NodeId id : saved_) {
    const std::string base = base_name(id);
    std::string unique = base;
    for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}_{}", base, i);
    names_.push_back(unique);
  }
}

std::string Chooser::reason(NodeId id) const {
  if (is_record(id)) return "the state before the step, which only the step before could give";
  if (node(id).op == Op::Linear) return "a product with a matrix is never computed twice";
  if (!is_recomputable(id)) {
    return fmt::format("memory mode {} does not compute {} twice", cellfuse::name(mode_), cellfuse::name(node(id).op));
  }
  return "nothing smaller gives it and what else backward needs";
}

void Chooser::build_forward(SavedProgram& program) const {
  Cell forward = forward_;
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    forward.outputs.push_back({names_[i], primal_.place[saved_[i]], OutputRole::Record});
  }
  program.forward = prune(forward);
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    program.saved.push_back({names_[i], node(saved_[i]).shape, bytes(saved_[i]), reason(saved_[i])});
  }
}

void Chooser::build_backward(SavedProgram& program) const {
  Cell backward = backward_;
  backward.inputs.clear();
  std::vector<std::int32_t> moved(backward_.inputs.size(), 0);
  for (std::size_t i = 0; i < backward_.inputs.size(); ++i) {
    if (is_record(i)) continue;
    moved[i] = static_cast<std::int32_t>(backward.inputs.size());
    backward.inputs.push_back(backward_.inputs[i]);
  }
  const auto first = static_cast<std::int32_t>(backward.inputs.size());
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    backward.inputs.push_back({names_[i], node(saved_[i]).shape, InputRole::Record, backward_.graph.span(saved_[i])});
  }
  program.backward = rewrite(backward, [&](Graph& graph, const Node& old, NodeId id) {
    auto it = std::lower_bound(saved_.begin(), saved_.end(), id);
    if (it != saved_.end() && *it == id) {
      return leaf(graph, Op::Input, first + static_cast<std::int32_t>(it - saved_.begin()), old.shape).id;
    }
    if (old.op != Op::Input) return kNoNode;
    // A record field that is not saved leaves a node that nothing needs.
    return leaf(graph, Op::Input, is_record(id) ? first : moved[static_cast<std::size_t>(old.index)], old.shape).id;
  });
  program.backward = prune(program.backward);
}

void Chooser::report(SavedProgram& program) const {
  // What backward still computes of the forward pass: found again, since it now starts from the record.
  std::vector<bool> wanted(backward_.graph.size(), false);
  for (NodeId id = static_cast<NodeId>(backward_.graph.size()); id-- > 0;) {
    if (!primal_.member[id] || is_free(id) || std::binary_search(saved_.begin(), saved_.end(), id)) continue;
    if (primal_.needed[id]) wanted[id] = true;
    if (!wanted[id]) continue;
    for (NodeId operand : node(id).operands) wanted[operand] = true;
  }
  for (NodeId id = 0; id < backward_.graph.size(); ++id) {
    if (!wanted[id] || is_view(node(id).op) || is_free(id) || std::binary_search(saved_.begin(), saved_.end(), id)) {
      continue;
    }
    std::string value = forward_.graph.name(primal_.place[id]);
    if (value.empty()) value = backward_.graph.name(id);
    if (value.empty()) continue;
    program.recomputed.push_back(
        {value, fmt::format("{} of values that are there takes no memory", cellfuse::name(node(id).op))});
  }
}

}  // namespace

std::string_view name(MemoryMode mode) { return kModeNames[static_cast<std::size_t>(mode)]; }

std::optional<MemoryMode> memory_mode_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kModeNames); ++i) {
    if (kModeNames[i] == name) return static_cast<MemoryMode>(i);
  }
  return std::nullopt;
}

std::int64_t SavedProgram::bytes() const {
  std::int64_t total = 0;
  for (const SavedValue& value : saved) total += value.bytes;
  return total;
}

SavedProgram choose_saved(const Cell& forward, const Cell& backward, MemoryMode mode, DType dtype) {
  return Chooser(forward, backward, mode, dtype).run();
}

}  // namespace cellfuse
