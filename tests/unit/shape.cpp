#include "ir/shape.h"

#include <doctest/doctest.h>

#include "ir/diagnostic.h"

using namespace cellfuse;

namespace {

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result;
  REQUIRE(broadcast_shapes(a, b, result));
  return result;
}

}  // namespace

TEST_CASE("sizes, strides and printing") {
  const Shape shape{Extent(12, 4 * Dim::symbol("H")), 5};
  CHECK(shape.rank() == 2);
  CHECK(shape.count() == 60);
  CHECK(shape.stride(0) == 5);
  CHECK(shape.stride(1) == 1);
  CHECK(shape.str() == "[4*H, 5]");
  CHECK(shape.sizes() == "[12, 5]");
  CHECK(shape.without(0).sizes() == "[5]");
  CHECK(shape.with(1, 7).sizes() == "[12, 7]");
  CHECK(Shape().str() == "[]");
  CHECK(Shape().count() == 1);
  CHECK(shape == Shape{12, 5});
  CHECK(!(shape == Shape{12}));
  CHECK_THROWS_AS((Shape{1, 2, 3, 4}), InternalError);
}

TEST_CASE("broadcasting") {
  CHECK(broadcast({3}, {}).sizes() == "[3]");
  CHECK(broadcast({1}, {3}).sizes() == "[3]");
  CHECK(broadcast({4, 1}, {3}).sizes() == "[4, 3]");
  CHECK(broadcast({3}, {2, 3}).sizes() == "[2, 3]");
  Shape unused;
  CHECK(!broadcast_shapes({3}, {4}, unused));
  CHECK(!broadcast_shapes({3, 4}, {3}, unused));
}
