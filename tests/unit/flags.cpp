#include "runtime/flags.h"

#include <doctest/doctest.h>

#include "ir/diagnostic.h"

using namespace cellfuse;
using Bytes = std::vector<std::uint8_t>;

TEST_CASE("nothing given, nothing made") {
  const SequenceFlags flags = make_flags({}, 3, 2, false);
  CHECK(flags.live.empty());
  CHECK(flags.reset.empty());
  CHECK(flags.step_index.empty());
}

TEST_CASE("lengths and a mask must both allow a step; resets count at live steps") {
  const std::int64_t lengths[] = {2, 3};
  const Bytes mask = {1, 9, 0, 1, 1, 0};
  const Bytes reset = {0, 1, 1, 0, 1, 1};
  SequenceArguments arguments;
  arguments.lengths = lengths;
  arguments.mask = {mask.data(), {3, 2}};
  arguments.reset = {reset.data(), {3, 2}};
  arguments.first_step = 5;
  const SequenceFlags flags = make_flags(arguments, 3, 2, true);
  CHECK(flags.live == Bytes{1, 1, 0, 1, 0, 0});
  CHECK(flags.reset == Bytes{0, 1, 0, 0, 0, 0});
  CHECK(flags.step_index == std::vector<std::int32_t>{5, 5, 6, 6, 6, 7});
  arguments.reverse = true;
  CHECK(make_flags(arguments, 3, 2, true).step_index == std::vector<std::int32_t>{5, 6, 5, 5, 5, 5});
}

TEST_CASE("a batch-major mask") {
  const Bytes mask = {1, 0, 1, 0, 1, 1};
  SequenceArguments arguments;
  arguments.batch_major = true;
  arguments.mask = {mask.data(), {2, 3}};
  CHECK(make_flags(arguments, 3, 2, false).live == Bytes{1, 0, 0, 1, 1, 1});
}

TEST_CASE("what does not fit is named") {
  const auto message_of = [](const SequenceArguments& arguments) {
    try {
      make_flags(arguments, 3, 2, true);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  const std::int64_t few[] = {1};
  const std::int64_t long_ones[] = {1, 4};
  const Bytes bytes(6);
  SequenceArguments arguments;
  arguments.lengths = few;
  CHECK(message_of(arguments) == "lengths: expected one for each of 2 samples, got 1");
  arguments.lengths = long_ones;
  CHECK(message_of(arguments) == "lengths: sample 1 has length 4, but there are 3 steps");
  arguments.lengths = {};
  arguments.mask = {bytes.data(), {2, 3}};
  CHECK(message_of(arguments) == "mask: expected [time, batch] = [3, 2], got [2, 3]");
  arguments.mask = {};
  arguments.first_step = -1;
  CHECK(message_of(arguments) == "first_step: -1 with 3 steps does not stay within 0 and 2147483647");
}
