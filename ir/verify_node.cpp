#include "ir/verify_node.h"

#include <algorithm>
#include <string>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

class NodeVerifier {
 public:
  NodeVerifier(const Graph& graph, NodeId id, const char* where)
      : graph_(graph), node_(graph[id]), id_(id), where_(where) {}

  void verify() {
    require(node_.shape.rank() <= Shape::kMaxRank, "rank too high");
    for (int axis = 0; axis < node_.shape.rank(); ++axis) require(node_.shape[axis].size >= 0, "negative size");
    for (NodeId operand : node_.operands) require(operand < id_, "an operand does not come before its user");
    domain();
    if (is_elementwise(node_.op)) return elementwise_op();
    if (is_leaf(node_.op)) return leaf();
    if (is_view(node_.op)) return view();
    if (is_reduction(node_.op) || node_.op == Op::CumSum) return along_axis();
    if (node_.op == Op::WithGrad) return with_grad();
    contraction();
  }

 private:
  void require(bool condition, const char* what) const {
    if (!condition) throw InternalError(where_, std::string(what) + ": " + describe_node(graph_, id_));
  }
  void require_operands(std::size_t count) const {
    require(node_.operands.size() == count, "wrong number of operands");
  }
  const Node& operand(std::size_t i) const { return graph_[node_.operands[i]]; }
  const Shape& shape(std::size_t i) const { return operand(i).shape; }
  void require_axis(const Shape& of) const { require(node_.axis >= 0 && node_.axis < of.rank(), "axis out of range"); }

  Domain of_operands() const {
    Domain widest = Domain::Once;
    for (NodeId id : node_.operands) widest = std::max(widest, graph_[id].domain);
    return widest;
  }

  void domain() const {
    const Domain operands = of_operands();
    if (node_.op == Op::Accumulate || node_.op == Op::AccumulateOuter) {
      require(node_.begin >= 0 && node_.begin <= static_cast<std::int64_t>(Domain::Step), "no domain to sum over");
      require(operands <= summed_from(node_) && node_.domain < summed_from(node_), "a sum over nothing");
    } else if (!is_leaf(node_.op)) {
      require(node_.domain == operands, "the domain is not that of the operands");
    }
  }

  void elementwise_op() const {
    require_operands(static_cast<std::size_t>(elementwise(node_.op).arity));
    for (std::size_t i = 0; i < node_.operands.size(); ++i) {
      require(shape(i) == node_.shape, "operands of an elementwise operation differ in shape");
    }
  }

  void leaf() const {
    require_operands(0);
    const bool scalar = node_.op == Op::InitialGiven || node_.op == Op::StepIndex || node_.op == Op::Training;
    require(!scalar || node_.shape.rank() == 0, "must be a scalar");
    if (node_.op == Op::Iota) require_axis(node_.shape);
    require(node_.index >= 0, "negative index");
  }

  void view() const {
    if (node_.op != Op::Concat) require_operands(1);
    switch (node_.op) {
      case Op::Slice:
        require_axis(shape(0));
        require(node_.begin >= 0 && node_.begin <= node_.end && node_.end <= shape(0)[node_.axis].size, "slice range");
        require(node_.shape == shape(0).with(node_.axis, node_.end - node_.begin), "slice shape");
        break;
      case Op::Concat: concat(); break;
      case Op::Reshape:
        require(node_.shape.count() == shape(0).count(), "reshape changes the number of elements");
        break;
      case Op::Transpose:
        require(shape(0).rank() == 2 && node_.shape == Shape{shape(0)[1], shape(0)[0]}, "transpose shape");
        break;
      default: broadcast();
    }
  }

  void concat() const {
    require(!node_.operands.empty(), "concat of nothing");
    require_axis(node_.shape);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < node_.operands.size(); ++i) {
      require(shape(i).rank() == node_.shape.rank() && shape(i).without(node_.axis) == node_.shape.without(node_.axis),
              "concat shapes");
      total += shape(i)[node_.axis].size;
    }
    require(total == node_.shape[node_.axis].size, "concat size");
  }

  void broadcast() const {
    std::int8_t previous = -1;
    for (int i = 0; i < shape(0).rank(); ++i) {
      const std::int8_t axis = node_.axes[static_cast<std::size_t>(i)];
      require(axis > previous && axis < node_.shape.rank(), "broadcast axes");
      require(shape(0)[i].size == 1 || shape(0)[i] == node_.shape[axis], "broadcast sizes");
      previous = axis;
    }
  }

  void along_axis() const {
    require_operands(1);
    require_axis(shape(0));
    require(node_.shape == (node_.op == Op::CumSum ? shape(0) : shape(0).without(node_.axis)), "shape along an axis");
  }

  void with_grad() const {
    require(node_.operands.size() % 2 == 1, "with_grad needs a gradient for each argument");
    require(shape(0) == node_.shape, "with_grad has the shape of its value");
  }

  void contraction() const {
    if (node_.op == Op::Accumulate) {
      require_operands(1);
      return require(shape(0) == node_.shape, "a sum over steps has the shape of its terms");
    }
    require_operands(2);
    const Shape& a = shape(0);
    const Shape& b = shape(1);
    switch (node_.op) {
      case Op::MatMul: return matmul(a, b);
      case Op::Outer: return require(a.rank() == 1 && b.rank() == 1 && node_.shape == Shape{a[0], b[0]}, "outer shape");
      case Op::AccumulateOuter: return accumulate_outer(a, b);
      default: return linear(a, b);
    }
  }

  void matmul(const Shape& a, const Shape& b) const {
    require(a.rank() >= 1 && a.rank() <= 2 && b.rank() >= 1 && b.rank() <= 2 && a.rank() + b.rank() > 2,
            "matmul ranks");
    require(a[a.rank() - 1] == b[0], "matmul inner sizes");
    Shape expected;
    if (a.rank() == 2) expected.push_back(a[0]);
    if (b.rank() == 2) expected.push_back(b[1]);
    require(node_.shape == expected, "matmul shape");
  }

  void accumulate_outer(const Shape& a, const Shape& b) const {
    require(node_.domain == Domain::Once, "accumulate_outer sums over the samples");
    require(a.rank() == b.rank() && (a.rank() == 1 || a.rank() == 2), "accumulate_outer ranks");
    require(a.rank() == 1 || a[0] == b[0], "accumulate_outer rows");
    require(node_.shape == Shape{a[a.rank() - 1], b[b.rank() - 1]}, "accumulate_outer shape");
  }

  void linear(const Shape& x, const Shape& w) const {
    require(x.rank() >= 1 && x.rank() <= 2 && w.rank() == 2, "linear ranks");
    require(operand(1).domain == Domain::Once, "the matrix of a linear is not shared by the batch");
    require(x[x.rank() - 1] == w[node_.flag ? 0 : 1], "linear inner sizes");
    require(node_.shape == x.with(x.rank() - 1, w[node_.flag ? 1 : 0]), "linear shape");
  }

  const Graph& graph_;
  const Node& node_;
  NodeId id_;
  const char* where_;
};

}  // namespace

void verify_node(const Graph& graph, NodeId id, const char* where) { NodeVerifier(graph, id, where).verify(); }

std::string describe_node(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  std::string text = "%" + std::to_string(id);
  if (!graph.name(id).empty()) text += " `" + graph.name(id) + "`";
  text += " = " + std::string(name(node.op));
  if (is_leaf(node.op)) return text + " " + std::to_string(node.index) + " : " + node.shape.str();
  text += "(";
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (i > 0) text += ", ";
    text += node.operands[i] < graph.size() ? graph[node.operands[i]].shape.str() : "?";
  }
  return text + ") : " + node.shape.str();
}

}  // namespace cellfuse
