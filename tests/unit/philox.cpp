#include "ir/philox.h"

#include <doctest/doctest.h>

using namespace cellfuse;

TEST_CASE("known answers of Random123") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a draw takes the words of the block that its address names") {
  DrawAddress address;
  address.seed = 0x0123456789ABCDEFULL;
  address.offset = 2;
  address.step = 7;
  address.sample = 11;
  address.site = 3;
  address.layer = 5;
  address.direction = 1;
  const std::uint64_t key = address.seed + 2 * 0x9E3779B97F4A7C15ULL;
  const PhiloxCounter block = philox4x32({2, 7, 11, 3 + (5U << 10U) + (1U << 20U)},
                                         {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U)});
  for (std::uint32_t word = 0; word < 4; ++word) {
    CHECK(uniform24(address, 8 + word) == (block[word] >> 8U) / 16777216.0);
  }
}

TEST_CASE("uniform numbers fill [0, 1)") {
  DrawAddress address;
  double sum = 0;
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const double u = uniform24(address, i);
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
  }
  CHECK(sum / 4000 == doctest::Approx(0.5).epsilon(0.02));
}
