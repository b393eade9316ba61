#include "ir/evaluate.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ir/diagnostic.h"
#include "ir/philox.h"

namespace cellfuse {

namespace {

/// A shape as seen from one of its axes: element (o, i, k) lies at (o * size + i) * inner + k.
struct AxisView {
  std::int64_t outer;
  std::int64_t size;
  std::int64_t inner;

  AxisView(const Shape& shape, int axis)
      : outer(shape.count() / std::max<std::int64_t>(1, shape[axis].size * shape.stride(axis))),
        size(shape[axis].size),
        inner(shape.stride(axis)) {}
};

void elementwise_op(const Node& node, std::span<const OperandView> operands, double* result) {
  const auto meaning = elementwise(node.op).evaluate;
  const std::int64_t count = node.shape.count();
  const double* a = operands[0].data;
  const double* b = operands.size() > 1 ? operands[1].data : a;
  const double* c = operands.size() > 2 ? operands[2].data : a;
  for (std::int64_t i = 0; i < count; ++i) result[i] = meaning(a[i], b[i], c[i]);
}

void iota_op(const Node& node, double* result) {
  const AxisView view(node.shape, node.axis);
  const std::int64_t count = node.shape.count();
  for (std::int64_t i = 0; i < count; ++i) result[i] = static_cast<double>(i / view.inner % view.size);
}

void random_op(const Node& node, const StepPoint& point, double* result) {
  const bool per_sample = node.begin == 0;
  DrawAddress address;
  address.seed = point.seed;
  address.offset = point.offset;
  address.layer = point.layer;
  address.direction = point.direction;
  address.site = static_cast<std::uint32_t>(node.index);
  if (per_sample) address.sample = static_cast<std::uint32_t>(point.sample);
  if (!node.flag) address.step = static_cast<std::uint32_t>(per_sample ? point.step : point.processed);
  const auto count = static_cast<std::uint32_t>(node.shape.count());
  for (std::uint32_t i = 0; i < count; ++i) result[i] = uniform24(address, i);
}

void slice_op(const Node& node, const OperandView& x, double* result) {
  const AxisView from(*x.shape, node.axis);
  const std::int64_t run = (node.end - node.begin) * from.inner;
  for (std::int64_t o = 0; o < from.outer; ++o) {
    std::copy_n(x.data + (o * from.size + node.begin) * from.inner, run, result + o * run);
  }
}

void concat_op(const Node& node, std::span<const OperandView> operands, double* result) {
  const AxisView to(node.shape, node.axis);
  for (std::int64_t o = 0; o < to.outer; ++o) {
    for (const OperandView& part : operands) {
      const std::int64_t run = (*part.shape)[node.axis].size * to.inner;
      result = std::copy_n(part.data + o * run, run, result);
    }
  }
}

void transpose_op(const OperandView& x, double* result) {
  const std::int64_t rows = (*x.shape)[0].size;
  const std::int64_t columns = (*x.shape)[1].size;
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) *result++ = x.data[i * columns + j];
  }
}

void broadcast_op(const Node& node, const OperandView& x, double* result) {
  const std::int64_t count = node.shape.count();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t from = 0;
    for (int axis = 0; axis < x.shape->rank(); ++axis) {
      const std::int8_t target = node.axes[static_cast<std::size_t>(axis)];
      const std::int64_t position = i / node.shape.stride(target) % node.shape[target].size;
      if ((*x.shape)[axis].size > 1) from += position * x.shape->stride(axis);
    }
    result[i] = x.data[from];
  }
}

double reduce_pair(Op op, double a, double b) {
  switch (op) {
    case Op::Sum: return a + b;
    case Op::Prod: return a * b;
    case Op::AMax: return elementwise(Op::Max).evaluate(a, b, 0);
    default: return elementwise(Op::Min).evaluate(a, b, 0);
  }
}

void reduction_op(const Node& node, const OperandView& x, double* result) {
  const AxisView view(*x.shape, node.axis);
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (std::int64_t k = 0; k < view.inner; ++k) {
      const double* first = x.data + o * view.size * view.inner + k;
      double value = first[0];
      for (std::int64_t i = 1; i < view.size; ++i) value = reduce_pair(node.op, value, first[i * view.inner]);
      *result++ = value;
    }
  }
}

void cumsum_op(const Node& node, const OperandView& x, double* result) {
  const AxisView view(*x.shape, node.axis);
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (std::int64_t k = 0; k < view.inner; ++k) {
      double value = 0;
      for (std::int64_t i = 0; i < view.size; ++i) {
        const std::int64_t position = node.flag ? view.size - 1 - i : i;
        const std::int64_t at = (o * view.size + position) * view.inner + k;
        value += x.data[at];
        result[at] = value;
      }
    }
  }
}

/// A matrix that is read in place: element (i, j) lies at i * row + j * column.
struct MatrixView {
  const double* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row;
  std::int64_t column;

  MatrixView transposed() const { return {data, columns, rows, column, row}; }
};

/// A vector is a row, or a column where `column` says so.
MatrixView matrix(const OperandView& x, bool column = false) {
  const Shape& shape = *x.shape;
  if (shape.rank() == 2) return {x.data, shape[0].size, shape[1].size, shape[1].size, 1};
  if (column) return {x.data, shape[0].size, 1, 1, 0};
  return {x.data, 1, shape[0].size, 0, 1};
}

void product(const MatrixView& a, const MatrixView& b, double* result) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < b.columns; ++j) {
      double value = 0;
      for (std::int64_t k = 0; k < a.columns; ++k) {
        value += a.data[i * a.row + k * a.column] * b.data[k * b.row + j * b.column];
      }
      *result++ = value;
    }
  }
}

[[noreturn]] void no_meaning(const Node& node) {
  throw InternalError("evaluate", "`" + std::string(name(node.op)) + "` has no value of its own");
}

void leaf_op(const Node& node, const StepPoint& point, double* result) {
  switch (node.op) {
    case Op::Constant: std::fill_n(result, node.shape.count(), node.value); break;
    case Op::Iota: iota_op(node, result); break;
    case Op::StepIndex: *result = static_cast<double>(point.step); break;
    case Op::Random: random_op(node, point, result); break;
    default: no_meaning(node);
  }
}

}  // namespace

StepPoint::StepPoint(const RunArguments& arguments)
    : seed(arguments.seed),
      offset(arguments.offset),
      layer(arguments.layer),
      direction(arguments.direction),
      step(arguments.first_step),
      processed(arguments.first_step),
      sample(arguments.first_sample) {}

void evaluate(const Node& node, std::span<const OperandView> operands, const StepPoint& point, double* result) {
  if (is_elementwise(node.op)) return elementwise_op(node, operands, result);
  if (is_leaf(node.op)) return leaf_op(node, point, result);
  const OperandView& x = operands[0];
  switch (node.op) {
    case Op::Slice: return slice_op(node, x, result);
    case Op::Concat: return concat_op(node, operands, result);
    case Op::Transpose: return transpose_op(x, result);
    case Op::Broadcast: return broadcast_op(node, x, result);
    case Op::Reshape:
    case Op::WithGrad:
    case Op::Accumulate: std::copy_n(x.data, node.shape.count(), result); return;
    case Op::Sum:
    case Op::Prod:
    case Op::AMax:
    case Op::AMin: return reduction_op(node, x, result);
    case Op::CumSum: return cumsum_op(node, x, result);
    case Op::MatMul: return product(matrix(x), matrix(operands[1], true), result);
    case Op::Outer: return product(matrix(x, true), matrix(operands[1]), result);
    case Op::AccumulateOuter: return product(matrix(x).transposed(), matrix(operands[1]), result);
    case Op::Linear: {
      const MatrixView w = matrix(operands[1]);
      return product(matrix(x), node.flag ? w : w.transposed(), result);
    }
    default: no_meaning(node);
  }
}

}  // namespace cellfuse
