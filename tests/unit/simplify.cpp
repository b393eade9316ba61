#include "passes/simplify.h"

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "tests/support/zoo.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

/// What becomes of `output y = EXPRESSION`: a line a value, then what y is.
std::string simplified(const std::string& expression) {
  const std::string text =
      "cell t(H) {\n  input x[H], z[H], k\n  param W[4*H, H], A[H, H], a\n  output y = " + expression + "\n}\n";
  const Cell cell = simplify(cell_from_text(text, {{"H", 4}}));
  verify(cell);
  const std::string printed = print(cell);
  const std::size_t begin = printed.find("\n\n") + 2;
  return printed.substr(begin, printed.size() - begin - 2);
}

}  // namespace

TEST_CASE("algebra that keeps float results") {
  for (const char* same_as_x : {"x * 1 + 0", "(x - 0) / 1", "--x", "where(1, x, z)", "where(k > 0, x, x)",
                                "concat(x[0:2], x[2:4])", "reshape(reshape(x, 2, 2), 4)", "x ^ 1"}) {
    CAPTURE(same_as_x);
    CHECK(simplified(same_as_x) == "  output y[H] = x\n");
  }
  CHECK(simplified("0 + x * -1") == "  y: [H] = -x\n  output y[H] = y\n");
  CHECK(simplified("x + -z") == "  y: [H] = x - z\n  output y[H] = y\n");
  CHECK(simplified("x - -z") == "  y: [H] = x + z\n  output y[H] = y\n");
  CHECK(simplified("-x * 3") == "  y: [H] = x * -3\n  output y[H] = y\n");
  CHECK(simplified("-x * z") == "  %0: [H] = x * z\n  y: [H] = -%0\n  output y[H] = y\n");
  CHECK(simplified("2 * 3 + sqrt(16) - x") == "  y: [H] = 10 - x\n  output y[H] = y\n");
  CHECK(simplified("x / 4") == "  y: [H] = x * 0.25\n  output y[H] = y\n");
}

TEST_CASE("algebra that would change results is left alone") {
  CHECK(simplified("x * 0") == "  y: [H] = x * 0\n  output y[H] = y\n");
  CHECK(simplified("x - x") == "  y: [H] = x - x\n  output y[H] = y\n");
  CHECK(simplified("x / 3") == "  y: [H] = x / 3\n  output y[H] = y\n");
  CHECK(simplified("x * 2 * 2") == "  %0: [H] = x * 2\n  y: [H] = %0 * 2\n  output y[H] = y\n");
  CHECK(simplified("x ^ 2.5") == "  y: [H] = pow(x, 2.5)\n  output y[H] = y\n");
}

TEST_CASE("small whole powers are products") {
  CHECK(simplified("x ^ 2") == "  y: [H] = x * x\n  output y[H] = y\n");
  CHECK(simplified("x ^ 3") == "  %0: [H] = x * x\n  y: [H] = %0 * x\n  output y[H] = y\n");
  CHECK(simplified("x ^ 4") == "  %0: [H] = x * x\n  y: [H] = %0 * %0\n  output y[H] = y\n");
  CHECK(simplified("x ^ -2") == "  %0: [H] = x * x\n  y: [H] = 1 / %0\n  output y[H] = y\n");
  CHECK(simplified("x ^ 0") == "  output y[H] = 1\n");
}

TEST_CASE("conditions") {
  CHECK(simplified("where(not k, x, z)") ==
        "  %0: [H] = broadcast(k, [H], axes=[])\n  y: [H] = where(%0, z, x)\n  output y[H] = y\n");
  CHECK(simplified("where(x > 0, where(x > 0, x, z), -where(x > 0, x, z))") ==
        "  %0: [H] = x > 0\n  %1: [H] = -z\n  y: [H] = where(%0, x, %1)\n  output y[H] = y\n");
  CHECK(simplified("(x > 0) * ((x > 0) == 0)") == "  output y[H] = 0\n");
}

TEST_CASE("equal values are one value, whatever the order of operands") {
  CHECK(simplified("x * z + z * x") == "  %0: [H] = x * z\n  y: [H] = %0 + %0\n  output y[H] = y\n");
}

TEST_CASE("slices sink to what they are cut from") {
  CHECK(simplified("sigmoid(x + z)[1:4][1:2]") == R"(  %0: [1] = x[2:3]
  %1: [1] = z[2:3]
  %2: [1] = %0 + %1
  y: [1] = sigmoid(%2)
  output y[1] = y
)");
  CHECK(simplified("(W @ x + 1)[0:H]") == R"(  %0: [4*H] = W @ x
  %1: [H] = %0[0:4]
  y: [H] = %1 + 1
  output y[H] = y
)");
  CHECK(simplified("concat(x, z)[2:6]") == R"(  %0: [2] = x[2:4]
  %1: [2] = z[0:2]
  y: [4] = concat(%0, %1, axis=0)
  output y[4] = y
)");
  CHECK(simplified("(x[:, None] * z[None, :])[1:3]") == R"(  %0: [2] = x[1:3]
  %1: [2, H] = broadcast(%0, [2, H], axes=[0])
  %2: [2, H] = broadcast(z, [2, H], axes=[1])
  y: [2, H] = %1 * %2
  output y[2, H] = y
)");
}

TEST_CASE("costly work that is also needed whole is not done slice by slice") {
  CHECK(simplified("exp(x)[0:2] * sum(exp(x))") == R"(  %0: [H] = exp(x)
  %1: [2] = %0[0:2]
  %2 = sum(%0, axis=0)
  %3: [2] = broadcast(%2, [2], axes=[])
  y: [2] = %1 * %3
  output y[2] = y
)");
}

TEST_CASE("broadcasts rise, so that work is done before a value is spread") {
  CHECK(simplified("exp(k * ones(4)) + x") == R"(  %0 = exp(k)
  %1: [4] = broadcast(%0, [4], axes=[])
  y: [4] = %1 + x
  output y[4] = y
)");
  CHECK(simplified("sum(k * ones(4)) + x") == R"(  %0 = k * 4
  %1: [H] = broadcast(%0, [H], axes=[])
  y: [H] = %1 + x
  output y[H] = y
)");
}

TEST_CASE("transposes and sums") {
  CHECK(simplified("transpose(transpose(A)) @ x") == "  y: [H] = A @ x\n  output y[H] = y\n");
  CHECK(simplified("transpose(A) @ x") == "  y: [H] = x @ A\n  output y[H] = y\n");
  CHECK(simplified("x + sum(transpose(A), axis=0)") ==
        "  %0: [H] once = sum(A, axis=1)\n  y: [H] = x + %0\n  output y[H] = y\n");
}

TEST_CASE("sums of zero-padded parts become one concatenation") {
  CHECK(simplified("concat(x, zeros(4)) + concat(zeros(4), z)") ==
        "  y: [2*H] = concat(x, z, axis=0)\n  output y[2*H] = y\n");
}

TEST_CASE("clip_grad is not done on parts: its gradient is clamped as a whole") {
  CHECK(simplified("clip_grad(x, -1, 1)[0:2]") ==
        "  %0: [H] = clip_grad(x, -1, 1)\n  y: [2] = %0[0:2]\n  output y[2] = y\n");
}
