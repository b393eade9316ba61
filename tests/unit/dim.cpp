#include "ir/dim.h"

#include <doctest/doctest.h>

using namespace cellfuse;

namespace {

const Dim H = Dim::symbol("H");
const Dim I = Dim::symbol("I");
const Dim C = Dim::symbol("C");

Dim over(const Dim& a, const Dim& b) { return divide(a, b).value(); }

}  // namespace

TEST_CASE("sums and products have one form") {
  CHECK(2 * H + H == 3 * H);
  CHECK(H - H == Dim(0));
  CHECK(2 * over(H, 2) == H);
  CHECK(over(H, C) * C == H);
  CHECK((H + 1) * (H - 1) == H * H - 1);
  CHECK(!(4 * H == H));
}

TEST_CASE("division by a single term") {
  CHECK(over(4 * H, 2) == 2 * H);
  CHECK(over(H * I + H, H) == I + 1);
  CHECK(!divide(H, Dim(0)).has_value());
  CHECK(!divide(H, H + 1).has_value());
}

TEST_CASE("printing") {
  CHECK(Dim(7).str() == "7");
  CHECK(Dim(0).str() == "0");
  CHECK((4 * H).str() == "4*H");
  CHECK((4 * H + 2 * over(H, C)).str() == "4*H + 2*H/C");
  CHECK((H - 1).str() == "H - 1");
  CHECK((1 - H).str() == "1 - H");
  CHECK((H * H * I).str() == "H*H*I");
  CHECK(over(H, 2).str() == "H/2");
  CHECK(over(3 * H, 2 * C).str() == "3*H/(2*C)");
  CHECK(over(Dim(1), C).str() == "1/C");
  CHECK(over(Dim(7), Dim(2)).str() == "7/2");
}

TEST_CASE("values under a binding") {
  const DimBinding binding{{"H", 12}, {"C", 5}};
  CHECK((4 * H + 1).evaluate(binding) == 49);
  CHECK(over(H, 3).evaluate(binding) == 4);
  CHECK(over(H, C).evaluate(binding) == std::nullopt);
  CHECK(over(H, C).evaluate_real(binding) == doctest::Approx(2.4));
  CHECK((H + I).evaluate(binding) == std::nullopt);
  CHECK(Dim(3).evaluate({}) == 3);
  CHECK((H * H * H * H * H).evaluate({{"H", std::int64_t{1} << 31}}) == std::nullopt);
}

TEST_CASE("what is positive for all dimensions") {
  CHECK(H.provably_positive());
  CHECK((4 * H + over(H, C)).provably_positive());
  CHECK((2 * H - 1).provably_positive());
  CHECK((H * I + H + I - 2).provably_positive());
  CHECK(!(H - 1).provably_positive());
  CHECK(!(H - I).provably_positive());
  CHECK(!Dim(0).provably_positive());
  CHECK(provably_different(4 * H, H));
  CHECK(provably_different(H, H + I));
  CHECK(!provably_different(H, I));
  CHECK(!provably_different(2 * H, H + 1));
}

TEST_CASE("what is too large throws instead of being wrong") {
  const Dim large = std::int64_t{1} << 62;
  CHECK_THROWS_AS(large * 4, DimOverflow);
  CHECK_THROWS_AS(large + large, DimOverflow);
  CHECK_THROWS_AS((large * H) * 4, DimOverflow);
  Dim power = H;
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0; i < 100; ++i) power = power * H;
      }(),
      DimOverflow);
  Dim sum = 0;
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0; i < 100; ++i) sum = sum + Dim::symbol("D" + std::to_string(i));
      }(),
      DimOverflow);
}

TEST_CASE("the dimensions in it") {
  CHECK((4 * H + over(I, C)).symbols() == std::vector<std::string>{"C", "H", "I"});
  CHECK(Dim(3).symbols().empty());
  CHECK(!H.constant().has_value());
  CHECK(over(H, H).constant() == 1);
}
