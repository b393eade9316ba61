#include "frontend/cli/case.h"

#include <cmath>
#include <fstream>
#include <limits>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

const std::string kZoo = std::string(CELLFUSE_SOURCE_DIR) + "/tests/zoo/";

Cell declared_rnn() {
  CellMaker maker;
  maker.input("x", {3});
  maker.state("h", {4});
  maker.param("W", {4, 3});
  maker.param("U", {4, 4});
  maker.param("b", {4});
  return maker.cell();
}

}  // namespace

TEST_CASE("a case of the zoo") {
  const Case test = load_case(kZoo + "rnn_tanh.json");
  CHECK(test.cell == "rnn_tanh");
  CHECK(test.dims == DimBinding{{"H", 4}, {"I", 3}});
  CHECK(test.steps == 4);
  CHECK(test.batch == 2);
  REQUIRE(test.variants.size() == 4);
  CHECK(test.variants[0].name == "plain");
  for (const CaseVariant& variant : test.variants) {
    CAPTURE(variant.name);
    const RunArguments arguments = run_arguments(test, variant, declared_rnn());
    CHECK(arguments.inputs[0].size() == 24);
    CHECK(arguments.initial.size() == 1);
    CHECK(arguments.reverse == (variant.name == "reverse"));
    CHECK(arguments.reset.size() == (variant.name == "reset" ? 8 : 0));
    CHECK(arguments.live.size() == (variant.name == "lengths" ? 8 : 0));
    CHECK(variant.param_grads.at("W")->size() == 12);
  }
}

TEST_CASE("files and arrays that do not fit") {
  CHECK_THROWS_AS(load_case(kZoo + "no_such.json"), UsageError);
  const std::string path = std::string(CELLFUSE_BINARY_DIR) + "/broken_case.json";
  for (const char* text : {"", "{", "[]", "{\"cell\": 1}", "{\"cell\": \"a\", \"dims\": {\"H\": \"x\"}}"}) {
    std::ofstream(path) << text;
    CHECK_THROWS_AS(load_case(path), UsageError);
  }
  const Case test = load_case(kZoo + "rnn_tanh.json");
  Cell cell = declared_rnn();
  cell.params[0].shape = {5, 3};
  CHECK_THROWS_AS(run_arguments(test, test.variants[0], cell), UsageError);
  cell.params[0].name = "V";
  CHECK_THROWS_AS(run_arguments(test, test.variants[0], cell), UsageError);
}

TEST_CASE("scaled errors") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(scaled_error(Values{1, 3}, Values{1, 1}) == 1);
  CHECK(scaled_error(Values{}, Values{}) == 0);
  CHECK(scaled_error(Values{nan, infinity}, Values{nan, infinity}) == 0);
  CHECK(scaled_error(Values{nan}, Values{1}) == infinity);
  CHECK(scaled_error(Values{1}, Values{infinity}) == infinity);
  CHECK(scaled_error(Values{1}, Values{1, 2}) == infinity);
}
