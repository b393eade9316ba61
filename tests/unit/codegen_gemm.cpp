// Matrix products and packing in compiled code, against plain loops.
#if CELLFUSE_CPU_JIT

#include <cmath>

#include <doctest/doctest.h>

#include "runtime/cpu/gemm.h"
#include "tests/support/hand_plan.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

struct Case {
  std::int64_t steps = 1;
  std::int64_t samples = 1;
  std::int64_t rows = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool contract_rows = false;
  bool accumulate = false;
  bool in_loop = false;
  bool reversed = false;
  int panel_vectors = 0;  ///< 0: the library
  int width = 64;
  DType matrix = DType::Float64;
};

/// c[t, s, r, :] = a[t, s, r, :] W, on what lies in memory.
std::vector<double> product(const Case& c, const std::vector<double>& a, const std::vector<double>& w,
                            std::vector<double> out) {
  const std::int64_t rows = c.steps * c.samples * c.rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < c.n; ++i) {
      double sum = c.accumulate ? out[static_cast<std::size_t>(row * c.n + i)] : 0;
      for (std::int64_t j = 0; j < c.k; ++j) {
        sum += a[static_cast<std::size_t>(row * c.k + j)] *
               w[static_cast<std::size_t>(c.contract_rows ? j * c.n + i : i * c.k + j)];
      }
      out[static_cast<std::size_t>(row * c.n + i)] = sum;
    }
  }
  return out;
}

Shape rows_of(const Case& c, std::int64_t width) { return c.rows == 1 ? Shape{width} : Shape{c.rows, width}; }

double linear_error(const Case& c, DType dtype) {
  HandPlan hand(dtype, c.width);
  const DType compute = hand.compute();
  Gemm gemm;
  gemm.name = "product";
  gemm.n = c.n;
  gemm.k = c.k;
  gemm.rows_per_unit = c.rows;
  gemm.accumulate = c.accumulate;
  gemm.contract_rows = c.contract_rows;
  gemm.a = hand.buffer(Space::Workspace, rows_of(c, c.k), compute, true, true);
  const Shape shape = c.contract_rows ? Shape{c.k, c.n} : Shape{c.n, c.k};
  const int matrix = hand.buffer(Space::Param, shape, c.panel_vectors > 0 ? dtype : compute, false, false);
  gemm.b = matrix;
  gemm.c = hand.buffer(Space::Workspace, rows_of(c, c.n), compute, true, true);
  if (c.panel_vectors > 0) {
    gemm.code = GemmCode::Generated;
    gemm.b = hand.buffer(Space::Workspace, {c.n, c.k}, compute, false, false);
    Buffer& panels = hand.plan.buffers[static_cast<std::size_t>(gemm.b)];
    panels.order = Order::Panels;
    panels.panel = c.panel_vectors * hand.plan.target.vector_bytes / static_cast<int>(info(compute).bytes);
    hand.plan.once.emplace_back(Pack{matrix, gemm.b, c.contract_rows});
  }
  if (c.in_loop) {
    TimeLoop loop;
    loop.name = "loop";
    loop.body.emplace_back(gemm);
    hand.plan.chunk.emplace_back(loop);
  } else {
    hand.plan.chunk.emplace_back(gemm);
  }
  hand.allocate(c.steps, c.samples);
  std::mt19937 random(static_cast<unsigned>(c.n * 31 + c.k));
  const auto a = rounded(numbers(random, hand.count(gemm.a), -1, 1), compute);
  const auto w = rounded(numbers(random, c.n * c.k, -1, 1), hand.plan.buffers[static_cast<std::size_t>(matrix)].dtype);
  const auto before = rounded(numbers(random, hand.count(gemm.c), -1, 1), compute);
  hand.set(gemm.a, a);
  hand.set(matrix, w);
  hand.set(gemm.c, before);
  if (c.reversed) {
    hand.reverse_time(gemm.a);
    hand.reverse_time(gemm.c);
  }
  hand.code().once()(&hand.frame());
  hand.code().chunk()(&hand.frame());
  return worst_error(hand.get(gemm.c), product(c, a, w, before)) /
         (static_cast<double>(c.k) * operation_tolerance(compute));
}

void check_linear(const Case& c, DType dtype) {
  CAPTURE(info(dtype).name);
  CAPTURE(c.steps);
  CAPTURE(c.samples);
  CAPTURE(c.rows);
  CAPTURE(c.n);
  CAPTURE(c.k);
  CAPTURE(c.contract_rows);
  CAPTURE(c.accumulate);
  CAPTURE(c.in_loop);
  CAPTURE(c.reversed);
  CAPTURE(c.panel_vectors);
  CAPTURE(c.width);
  CHECK(linear_error(c, dtype) < 1);
}

}  // namespace

TEST_CASE("OpenBLAS computes right results on this processor") { CHECK_NOTHROW(cpu::check_gemm_library()); }

TEST_CASE("products of the library and emitted ones, at odd sizes") {
  for (int panel : {0, 1, 2, 3, 4}) {
    for (std::int64_t samples : {1, 2, 3, 5, 8, 13, 33}) {
      check_linear({.samples = samples, .n = 37, .k = 19, .in_loop = true, .panel_vectors = panel}, DType::Float32);
    }
    for (std::int64_t n : {1, 16, 17, 64, 129}) {
      for (std::int64_t k : {1, 2, 33}) {
        check_linear({.samples = 5, .n = n, .k = k, .panel_vectors = panel}, DType::Float32);
        check_linear({.samples = 1, .n = n, .k = k, .accumulate = true, .panel_vectors = panel}, DType::Float64);
      }
    }
  }
}

TEST_CASE("products: matrices of both orders, 16-bit ones, narrower vectors") {
  for (bool contract_rows : {false, true}) {
    for (bool accumulate : {false, true}) {
      for (int panel : {0, 1, 2}) {
        Case c{.steps = 2, .samples = 3, .n = 40, .k = 21, .contract_rows = contract_rows, .accumulate = accumulate};
        c.panel_vectors = panel;
        check_linear(c, DType::Float64);
        check_linear(c, DType::Float32);
        if (panel > 0) check_linear(c, DType::BFloat16);
        if (panel > 0) check_linear(c, DType::Float16);
        for (int width : {32, 16}) {
          c.width = width;
          check_linear(c, DType::Float32);
        }
      }
    }
  }
}

TEST_CASE("products: rows of several steps, in both directions, several rows a sample") {
  for (int panel : {0, 2}) {
    for (std::int64_t rows : {1, 3}) {
      for (std::int64_t samples : {1, 4}) {
        for (bool in_loop : {false, true}) {
          for (bool reversed : {false, true}) {
            Case c{.steps = 5, .samples = samples, .rows = rows, .n = 18, .k = 7};
            c.in_loop = in_loop;
            c.reversed = reversed;
            c.panel_vectors = panel;
            check_linear(c, DType::Float32);
          }
        }
      }
    }
  }
}

namespace {

struct OuterCase {
  std::int64_t steps = 1;
  std::int64_t samples = 1;
  std::int64_t rows = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  bool reversed = false;
};

double outer_error(const OuterCase& c, DType dtype) {
  HandPlan hand(dtype);
  Gemm gemm;
  gemm.name = "outer";
  gemm.kind = GemmKind::Outer;
  gemm.accumulate = true;
  gemm.n = c.n;
  gemm.k = c.k;
  gemm.rows_per_unit = c.rows;
  auto rows_of = [&](std::int64_t width) { return c.rows == 1 ? Shape{width} : Shape{c.rows, width}; };
  gemm.a = hand.buffer(Space::Workspace, rows_of(c.n), dtype, true, true);
  gemm.b = hand.buffer(Space::Workspace, rows_of(c.k), dtype, true, true);
  gemm.c = hand.buffer(Space::Accumulator, {c.n, c.k}, dtype, false, false);
  hand.plan.chunk.emplace_back(gemm);
  hand.allocate(c.steps, c.samples);
  std::mt19937 random(5);
  const auto a = rounded(numbers(random, hand.count(gemm.a), -1, 1), dtype);
  const auto b = rounded(numbers(random, hand.count(gemm.b), -1, 1), dtype);
  std::vector<double> want = rounded(numbers(random, c.n * c.k, -1, 1), dtype);
  hand.set(gemm.a, a);
  hand.set(gemm.b, b);
  hand.set(gemm.c, want);
  if (c.reversed) {
    hand.reverse_time(gemm.a);
    hand.reverse_time(gemm.b);
  }
  hand.code().chunk()(&hand.frame());
  const std::int64_t rows = c.steps * c.samples * c.rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < c.n; ++i) {
      for (std::int64_t j = 0; j < c.k; ++j) {
        want[static_cast<std::size_t>(i * c.k + j)] +=
            a[static_cast<std::size_t>(row * c.n + i)] * b[static_cast<std::size_t>(row * c.k + j)];
      }
    }
  }
  return worst_error(hand.get(gemm.c), want) /
         (operation_tolerance(dtype) * (1 + std::sqrt(static_cast<double>(rows))));
}

void check_outer(const OuterCase& c, DType dtype) {
  CAPTURE(c.steps);
  CAPTURE(c.samples);
  CAPTURE(c.rows);
  CAPTURE(c.n);
  CAPTURE(c.k);
  CAPTURE(c.reversed);
  CHECK(outer_error(c, dtype) < 3);
}

}  // namespace

TEST_CASE("outer products are summed over all rows") {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    for (std::int64_t steps : {1, 7, 300}) {
      for (bool reversed : {false, true}) {
        check_outer({.steps = steps, .samples = 3, .n = 20, .k = 9, .reversed = reversed}, dtype);
        check_outer({.steps = steps, .samples = 1, .rows = 2, .n = 9, .k = 33, .reversed = reversed}, dtype);
      }
    }
    for (std::int64_t n : {1, 7, 35}) {
      for (std::int64_t k : {1, 16, 70, 300}) check_outer({.steps = 5, .samples = 2, .n = n, .k = k}, dtype);
    }
  }
}

TEST_CASE("matrices are widened and transposed") {
  for (DType dtype : {DType::Float64, DType::Float32, DType::Float16}) {
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 50}, Shape{50, 3}, Shape{33, 64}, Shape{48, 32}}) {
      for (Order order : {Order::RowMajor, Order::Transposed}) {
        for (int width : {64, 32}) {
          CAPTURE(shape.sizes());
          CAPTURE(name(order));
          HandPlan hand(dtype, width);
          const int from = hand.buffer(Space::Param, shape, dtype, false, false);
          const int to = hand.buffer(Space::Workspace, shape, hand.compute(), false, false);
          hand.plan.buffers[static_cast<std::size_t>(to)].order = order;
          hand.plan.once.emplace_back(Pack{from, to});
          hand.allocate(1, 1);
          std::mt19937 random(9);
          const auto values = rounded(numbers(random, shape.count(), -1, 1), dtype);
          hand.set(from, values);
          hand.code().once()(&hand.frame());
          std::vector<double> want = values;
          for (std::int64_t i = 0; order == Order::Transposed && i < shape.count(); ++i) {
            want[static_cast<std::size_t>(i % shape[1].size * shape[0].size + i / shape[1].size)] =
                values[static_cast<std::size_t>(i)];
          }
          CHECK(worst_error(hand.get(to), want) == 0);
        }
      }
    }
  }
}

#endif
