#include "tests/support/random_cells.h"

#include <random>
#include <string>

#include "ir/functions.h"
#include "tests/support/small_cells.h"

namespace cellfuse::testing {

namespace {

class RandomCell {
 public:
  explicit RandomCell(std::uint32_t seed) : engine_(seed) {}

  Cell make();

 private:
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint32_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  Graph& graph() { return maker_.graph(); }

  Shape random_shape();
  Expr any() { return pool_[static_cast<std::size_t>(below(static_cast<int>(pool_.size())))]; }
  /// A value of this rank, made from another where there is none.
  Expr of_rank(int rank);
  /// A value of this shape.
  Expr of_shape(const Shape& shape);
  Expr shared_matrix(std::int64_t rows, std::int64_t columns);
  Expr unary(Expr x);
  Expr binary();
  Expr view();
  Expr along_axis();
  Expr contraction();
  Expr special();
  Expr bounded(Expr x) { return chance(50) ? tanh(x) : sigmoid(x); }

  std::mt19937 engine_;
  CellMaker maker_;
  std::vector<Expr> pool_;
  int params_ = 0;
  std::int32_t sites_ = 0;
};

Shape RandomCell::random_shape() {
  switch (below(8)) {
    case 0: return {};
    case 1: return {1};
    case 2: return {2, 3};
    case 3: return {3, 3};
    case 4: return {6};
    case 5: return {2};
    default: return {3};
  }
}

Expr RandomCell::shared_matrix(std::int64_t rows, std::int64_t columns) {
  Expr matrix = maker_.param("W" + std::to_string(params_++), {rows, columns}, chance(85));
  if (chance(15)) return transpose(maker_.param("W" + std::to_string(params_++), {columns, rows}));
  if (chance(10)) return matrix * maker_.param("M" + std::to_string(params_++), {rows, columns});
  return matrix;
}

Expr RandomCell::of_rank(int rank) {
  for (int i = 0; i < 20; ++i) {
    Expr x = any();
    if (x.shape().rank() == rank) return x;
  }
  return of_shape(rank == 0 ? Shape{} : (rank == 1 ? Shape{3} : Shape{2, 3}));
}

Expr RandomCell::of_shape(const Shape& shape) {
  for (int i = 0; i < 12; ++i) {
    Expr x = any();
    Shape joined;
    if (broadcast_shapes(x.shape(), shape, joined) && joined == shape) return broadcast_to(x, shape);
    if (x.shape().count() == shape.count() && chance(50)) return reshape(x, shape);
  }
  Expr x = any();
  if (x.shape().rank() == 1 && shape.rank() == 1) {
    return matmul(shared_matrix(shape[0].size, x.shape()[0].size), x);
  }
  while (x.shape().rank() > 0) x = mean(x, 0);
  return broadcast_to(x, shape);
}

Expr RandomCell::unary(Expr x) {
  switch (below(14)) {
    case 0: return sin(x);
    case 1: return apply(Op::Relu, {x});
    case 2: return abs(x);
    case 3: return apply(Op::Softplus, {clamp(x, -4.0, 4.0)});
    case 4: return square(tanh(x));
    case 5: return apply(Op::Rsqrt, {square(x) + 0.5});
    case 6: return pow(clamp(x, 0.25, 2.0), 3.0);
    case 7: return apply(Op::Step, {x - 0.1});
    case 8: return detach(x);
    case 9: return -x;
    case 10: return x / (1.0 + abs(x));
    case 11: return apply(Op::Gelu, {clamp(x, -3.0, 3.0)});
    case 12: return exp(clamp(x, -3.0, 1.0));
    default: return bounded(x);
  }
}

Expr RandomCell::binary() {
  Expr a = any();
  Expr b = of_shape(a.shape());
  switch (below(9)) {
    case 0: return a - b;
    case 1: return a * tanh(b);
    case 2: return max(a, b);
    case 3: return where(gt(a, b), a, 0.5 * b);
    case 4: return a / (1.5 + square(b));
    case 5: return a * 1.0 + 0.0;
    case 6: return bounded(a) * b;
    default: return a + b;
  }
}

Expr RandomCell::view() {
  Expr x = any();
  const Shape shape = x.shape();
  if (shape.rank() == 0) return broadcast_to(x, random_shape());
  const int axis = below(shape.rank());
  const auto size = static_cast<int>(shape[axis].size);
  switch (below(6)) {
    case 0: {
      int begin = below(size);
      return slice(x, axis, begin, begin + 1 + below(size - begin));
    }
    case 1: return concat({x, of_shape(shape)}, axis);
    case 2: return shape.rank() == 2 ? transpose(x) : reshape(x, {1, shape[0]});
    case 3: return reshape(x, {shape.count()});
    case 4: return shape.rank() == 1 ? repeat(x, 2) : slice(x, axis, 0, 1);
    default: {
      if (size < 2) return x;
      // The parts of a split, put together in another way.
      const int cut = 1 + below(size - 1);
      Expr left = slice(x, axis, 0, cut);
      Expr right = slice(x, axis, cut, size);
      return concat({unary(left), right}, axis);
    }
  }
}

Expr RandomCell::along_axis() {
  Expr x = any();
  if (x.shape().rank() == 0) return x;
  const int axis = below(x.shape().rank());
  switch (below(8)) {
    case 0: return sum(x, axis);
    case 1: return reduce(Op::AMax, x, axis);
    case 2: return cumsum(x, axis, chance(50));
    case 3: return softmax(x, axis);
    case 4: return x.shape().rank() == 1 ? layer_norm(x, std::nullopt, std::nullopt, 1e-2, 0) : mean(x, axis);
    case 5: return norm2(x + 0.1, axis);
    case 6: return reduce(Op::Prod, tanh(x) + 0.7, axis);
    default: return mean(x, axis);
  }
}

Expr RandomCell::contraction() {
  switch (below(7)) {
    case 0: {
      Expr a = of_rank(1);
      return outer(a, of_rank(1));
    }
    case 1: {
      Expr s = of_rank(2);
      return matmul(s, of_shape({s.shape()[1]}));
    }
    case 2: {
      Expr s = of_rank(2);
      return matmul(of_shape({s.shape()[0]}), s);
    }
    case 3: {
      Expr s = of_rank(2);
      return matmul(s, shared_matrix(s.shape()[1].size, 2));
    }
    case 4: {
      Expr s = of_rank(2);
      return matmul(shared_matrix(2, s.shape()[0].size), s);
    }
    case 5: {
      Expr x = of_rank(1);
      return matmul(x, shared_matrix(x.shape()[0].size, 3));
    }
    default: {
      Expr x = of_rank(1);
      return matmul(shared_matrix(chance(50) ? 6 : 3, x.shape()[0].size), x);
    }
  }
}

Expr RandomCell::special() {
  Expr x = any();
  switch (below(5)) {
    case 0: return dropout(x, 0.3, chance(30), sites_++);
    case 1: return zoneout(x, of_shape(x.shape()), 0.4, sites_++);
    case 2: return x * sin(leaf(graph(), Op::StepIndex, 0, {}));
    case 3: return apply(Op::ClipGrad, {x, -0.5, 0.5});
    default: return x + maker_.param("b" + std::to_string(params_++), x.shape(), chance(80));
  }
}

Cell RandomCell::make() {
  maker_.cell().name = "random";
  pool_ = {maker_.input("x", {3}), maker_.input("m", random_shape())};
  std::vector<Expr> states;
  const int count = 1 + below(3);
  for (int i = 0; i < count; ++i) {
    states.push_back(maker_.state("s" + std::to_string(i), random_shape(), i == 0 ? 0.0 : 0.25));
    pool_.push_back(states.back());
  }
  if (chance(40)) maker_.start(states[0], maker_.param("start", states[0].shape()));
  const int operations = 4 + below(24);
  for (int i = 0; i < operations; ++i) {
    Expr made;
    switch (below(10)) {
      case 0:
      case 1: made = unary(any()); break;
      case 2:
      case 3: made = binary(); break;
      case 4:
      case 5: made = view(); break;
      case 6: made = along_axis(); break;
      case 7:
      case 8: made = contraction(); break;
      default: made = special(); break;
    }
    if (made.shape().count() > 64) continue;
    if (chance(60)) made = chance(50) ? bounded(made) : made * 0.5;
    pool_.push_back(made);
    if (chance(20)) graph().set_name(made.id, "v" + std::to_string(i));
  }
  for (Expr state : states) {
    // Late values are more likely to hang together with all of it.
    Expr last = pool_[pool_.size() - 1 - static_cast<std::size_t>(below(3)) % pool_.size()];
    Expr value = of_shape(state.shape());
    if (last.shape() == state.shape()) value = last;
    maker_.next(state, chance(70) ? bounded(value) : value * 0.5);
  }
  const int outputs = 1 + below(2);
  for (int i = 0; i < outputs; ++i) {
    maker_.output("y" + std::to_string(i), i == 0 ? pool_.back() : any());
  }
  return maker_.cell();
}

}  // namespace

Cell random_cell(std::uint32_t seed) { return RandomCell(seed).make(); }

}  // namespace cellfuse::testing
