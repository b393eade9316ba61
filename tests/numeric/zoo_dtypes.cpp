// The published cells as compiled code in the other dtypes, against golden numbers.
#include <doctest/doctest.h>

#include "tests/support/zoo_run.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

void check_all(DType dtype) {
  for (const std::string& name : zoo_names()) {
    CAPTURE(name);
    check_golden(zoo_cell(name), test_options(dtype));
  }
}

}  // namespace

TEST_CASE("float32") { check_all(DType::Float32); }
TEST_CASE("bfloat16") { check_all(DType::BFloat16); }
TEST_CASE("float16") { check_all(DType::Float16); }
