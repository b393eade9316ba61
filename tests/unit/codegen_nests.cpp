// Reductions, running sums and views in compiled code, against their float64 meaning.
#if CELLFUSE_CPU_JIT

#include <doctest/doctest.h>

#include "ir/functions.h"
#include "tests/support/hand_plan.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

constexpr std::int64_t kSteps = 2;
constexpr std::int64_t kSamples = 2;

/// A kernel of one value of one or two inputs, run and compared.
class OneValue {
 public:
  explicit OneValue(DType dtype, int width = 64) : hand_(dtype, width) { kernel_.name = "value"; }

  Expr input(const Shape& shape) {
    inputs_.push_back(hand_.given(kernel_, shape));
    return inputs_.back();
  }
  Graph& graph() { return hand_.graph(); }

  double error(Expr value, NestKind kind = NestKind::Map, Shape space = {}, int axis = 0) {
    const int out = hand_.kept(kernel_, value);
    kernel_.nests.push_back({kind, kind == NestKind::Map ? value.shape() : space, axis, {value.id}, {}});
    hand_.plan.chunk.emplace_back(kernel_);
    hand_.allocate(kSteps, kSamples);
    std::mt19937 random(7);
    std::vector<std::vector<double>> values;
    for (const Expr& input : inputs_) {
      const int buffer = hand_.buffer_of(kernel_, input);
      values.push_back(rounded(numbers(random, hand_.count(buffer), -1, 1), hand_.plan.dtype));
      hand_.set(buffer, values.back());
    }
    hand_.code().chunk()(&hand_.frame());
    std::vector<double> want;
    for (std::int64_t row = 0; row < kSteps * kSamples; ++row) {
      std::map<NodeId, std::vector<double>> given;
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const std::int64_t count = inputs_[i].shape().count();
        given[inputs_[i].id] = {values[i].begin() + row * count, values[i].begin() + (row + 1) * count};
      }
      const std::vector<double> one = meaning(hand_.graph(), value.id, given);
      want.insert(want.end(), one.begin(), one.end());
    }
    return worst_error(hand_.get(out), want) / operation_tolerance(hand_.plan.dtype);
  }

 private:
  HandPlan hand_;
  Kernel kernel_;
  std::vector<Expr> inputs_;
};

const Shape kShapes[] = {{1},     {3},     {16},      {33},      {100},      {1, 5},      {3, 1},    {4, 16},
                         {5, 33}, {33, 5}, {17, 100}, {2, 3, 4}, {3, 1, 17}, {2, 16, 16}, {5, 33, 3}};

}  // namespace

TEST_CASE("reductions along every axis") {
  for (Op op : {Op::Sum, Op::Prod, Op::AMax, Op::AMin}) {
    for (const Shape& shape : kShapes) {
      for (int axis = 0; axis < shape.rank(); ++axis) {
        CAPTURE(name(op));
        CAPTURE(shape.sizes());
        CAPTURE(axis);
        for (int width : {64, 32, 16}) {
          OneValue one(DType::Float64, width);
          const Expr x = one.input(shape);
          CHECK(one.error(reduce(op, x, axis), NestKind::Reduce, shape, axis) < 10);
        }
        OneValue one(DType::BFloat16);
        const Expr x = one.input(shape);
        CHECK(one.error(reduce(op, square(x), axis), NestKind::Reduce, shape, axis) < 2);
      }
    }
  }
}

TEST_CASE("NaN wins in the largest and the smallest") {
  for (std::int64_t at : {0, 5, 16, 34}) {
    for (Op op : {Op::AMax, Op::AMin}) {
      HandPlan hand(DType::Float32);
      Kernel kernel;
      kernel.name = "extreme";
      const Expr x = hand.given(kernel, {35});
      const Expr y = reduce(op, x, 0);
      const int out = hand.kept(kernel, y);
      kernel.nests.push_back({NestKind::Reduce, {35}, 0, {y.id}, {}});
      hand.plan.chunk.emplace_back(kernel);
      hand.allocate(1, 1);
      std::vector<double> values(35, 1.0);
      values[static_cast<std::size_t>(at)] = std::numeric_limits<double>::quiet_NaN();
      hand.set(hand.buffer_of(kernel, x), values);
      hand.code().chunk()(&hand.frame());
      CHECK(std::isnan(hand.get(out)[0]));
    }
  }
}

TEST_CASE("running sums along every axis, from both ends") {
  for (const Shape& shape : kShapes) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (bool from_the_end : {false, true}) {
        CAPTURE(shape.sizes());
        CAPTURE(axis);
        CAPTURE(from_the_end);
        for (int width : {64, 16}) {
          OneValue one(DType::Float64, width);
          const Expr x = one.input(shape);
          CHECK(one.error(cumsum(x, axis, from_the_end), NestKind::CumSum, shape, axis) < 10);
        }
      }
    }
  }
}

TEST_CASE("views lead to the right elements") {
  for (DType dtype : {DType::Float64, DType::Float16}) {
    for (int width : {64, 32}) {
      auto check = [&](const Shape& shape, auto view) {
        CAPTURE(shape.sizes());
        OneValue one(dtype, width);
        const Expr value = view(one.input(shape));
        CAPTURE(value.shape().sizes());
        CHECK(one.error(value) == 0);
      };
      check({100}, [](Expr x) { return slice(x, 0, 3, 70); });
      check({9, 20}, [](Expr x) { return slice(slice(x, 0, 2, 7), 1, 1, 18); });
      check({9, 20}, [](Expr x) { return transpose(x); });
      check({9, 20}, [](Expr x) { return slice(transpose(slice(x, 1, 2, 19)), 0, 1, 17); });
      check({33}, [](Expr x) { return broadcast(x, {5, 33}, {1}); });
      check({5}, [](Expr x) { return broadcast(x, {5, 33}, {0}); });
      check({5, 1}, [](Expr x) { return broadcast(x, {5, 33}, {0, 1}); });
      check({1, 33}, [](Expr x) { return broadcast(x, {5, 33}, {0, 1}); });
      check({}, [](Expr x) { return broadcast(x, {5, 33}, {}); });
      check({60}, [](Expr x) { return reshape(x, {5, 12}); });
      check({5, 12}, [](Expr x) { return reshape(x, {60}); });
      check({4, 64}, [](Expr x) { return reshape(x, {256}); });
      check({256}, [](Expr x) { return reshape(transpose(reshape(x, {4, 64})), {256}); });
      check({7, 9}, [](Expr x) { return reshape(transpose(x), {3, 21}); });
      check({3, 4, 5}, [](Expr x) { return reshape(reshape(x, {12, 5}), {2, 30}); });
      check({13}, [](Expr x) { return repeat(x, 5); });
      check({13}, [](Expr x) { return tile(x, 5); });
      check({16}, [](Expr x) { return tile(x, 5); });
      check({64}, [](Expr x) { return tile(x, 3); });
      check({32}, [](Expr x) { return repeat(x, 16); });
      check({6, 7}, [](Expr x) { return repeat(x, 3); });
      check({6, 7}, [](Expr x) { return slice(tile(x, 3), 1, 2, 19); });
      check({40}, [](Expr x) { return slice(concat({x, x}, 0), 0, 45, 60); });
    }
  }
}

TEST_CASE("indices, outer products and values in between") {
  for (int width : {64, 16}) {
    {
      OneValue one(DType::Float64, width);
      const Expr x = one.input({5, 33});
      CHECK(one.error(x + iota(one.graph(), {5, 33}, 0) * 10.0 + iota(one.graph(), {5, 33}, 1)) < 2);
    }
    {
      OneValue one(DType::Float64, width);
      const Expr a = one.input({9});
      const Expr b = one.input({20});
      CHECK(one.error(transpose(outer(a + 1.0, tanh(b)))) < 2);
    }
    {
      OneValue one(DType::Float64, width);
      const Expr a = one.input({9});
      const Expr b = one.input({9, 20});
      const Expr product = broadcast(a, {9, 20}, {0}) * b;
      CHECK(one.error(sum(product, 0), NestKind::Reduce, {9, 20}, 0) < 10);
    }
  }
}

TEST_CASE("nests of a kernel read what earlier ones made") {
  for (std::int64_t size : {1, 5, 16, 100}) {
    for (DType dtype : {DType::Float64, DType::Float32}) {
      CAPTURE(size);
      HandPlan hand(dtype);
      Kernel kernel;
      kernel.name = "layer_norm";
      const Expr x = hand.given(kernel, {size});
      const Expr gain = hand.given(kernel, {size}, false, false);
      const Expr y = square(x) + 1.0;
      const Expr total = sum(y, 0);
      const Expr mean = total / static_cast<double>(size);
      const Expr centred = y - mean;
      const Expr squares = sum(square(centred), 0);
      const Expr result = centred / sqrt(squares / static_cast<double>(size) + 1e-5) * gain;
      auto scratch = [&](Expr value) {
        const int buffer = hand.buffer(Space::Scratch, value.shape(), hand.compute(), false, false);
        Store store;
        store.node = value.id;
        store.buffer = buffer;
        kernel.stores.push_back(store);
        kernel.loads.push_back({value.id, buffer});
      };
      scratch(y);
      scratch(total);
      scratch(squares);
      const int out = hand.kept(kernel, result);
      kernel.nests.push_back({NestKind::Reduce, {size}, 0, {total.id}, {y.id}});
      kernel.nests.push_back({NestKind::Reduce, {size}, 0, {squares.id}, {}});
      kernel.nests.push_back({NestKind::Map, {size}, 0, {result.id}, {}});
      hand.plan.chunk.emplace_back(kernel);
      hand.allocate(3, 2);
      std::mt19937 random(3);
      const auto xs = rounded(numbers(random, 6 * size, -2, 2), dtype);
      const auto gains = rounded(numbers(random, size, 0.5, 2), dtype);
      hand.set(hand.buffer_of(kernel, x), xs);
      hand.set(hand.buffer_of(kernel, gain), gains);
      hand.code().chunk()(&hand.frame());
      std::vector<double> want;
      for (std::int64_t row = 0; row < 6; ++row) {
        const auto one = meaning(hand.graph(), result.id,
                                 {{x.id, {xs.begin() + row * size, xs.begin() + (row + 1) * size}}, {gain.id, gains}});
        want.insert(want.end(), one.begin(), one.end());
      }
      CHECK(worst_error(hand.get(out), want) < 100 * operation_tolerance(dtype));
    }
  }
}

#endif
