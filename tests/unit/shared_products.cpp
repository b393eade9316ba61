#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/cpu/gemm.h"
#include "runtime/thread_pool.h"

using namespace cellfuse;
using namespace cellfuse::cpu;

namespace {

constexpr std::int64_t kRows = 301;
constexpr std::int64_t kN = 150;
constexpr std::int64_t kK = 170;

std::vector<float> numbers(std::int64_t count, int seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i) * 0.37F + static_cast<float>(seed));
  }
  return values;
}

std::vector<float> product(bool outer, ThreadPool* pool) {
  std::vector<float> a = numbers(kRows * (outer ? kN : kK), 1);
  std::vector<float> b = numbers(outer ? kRows * kK : kN * kK, 2);
  std::vector<float> c(static_cast<std::size_t>(outer ? kN * kK : kRows * kN), 1.0F);
  constexpr std::int64_t kBytes = sizeof(float);
  auto bytes = [](std::vector<float>& values) { return reinterpret_cast<std::byte*>(values.data()); };
  GemmCall call{};
  call.a = {bytes(a), 0, (outer ? kN : kK) * kBytes};
  call.b = {bytes(b), 0, outer ? kK * kBytes : 0};
  call.c = {bytes(c), 0, outer ? 0 : kN * kBytes};
  call.steps = call.rows_per_unit = 1;
  call.samples = kRows;
  call.n = kN;
  call.k = kK;
  call.outer = outer ? 1 : 0;
  const SharedProducts scope(pool);
  cellfuse_gemm_f32(&call);
  return c;
}

}  // namespace

TEST_CASE("products that threads share are the products of one thread") {
  ThreadPool pool(3);
  for (const bool outer : {false, true}) {
    CAPTURE(outer);
    const std::vector<float> alone = product(outer, nullptr);
    const std::vector<float> shared = product(outer, &pool);
    REQUIRE(alone.size() == shared.size());
    for (std::size_t i = 0; i < alone.size(); ++i) REQUIRE(shared[i] == doctest::Approx(alone[i]).epsilon(1e-4));
  }
}
