#include "passes/legalise.h"

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "passes/differentiate.h"
#include "passes/simplify.h"
#include "passes/strip_annotations.h"
#include "tests/support/zoo.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

Cell cell_with(const std::string& statements) {
  const std::string text =
      "cell t(H) {\n  input x[H], z[H]\n  state S[H, H], s[H]\n  param A[H, H], a[H]\n" + statements + "\n}\n";
  return cell_from_text(text, {{"H", 4}});
}

/// The lines of the printed cell that define values, of domain Step unless `all`.
std::string values(const Cell& cell, bool all = false) {
  const std::string printed = print(cell);
  std::string result;
  std::size_t begin = printed.find("\n\n") + 2;
  while (printed.compare(begin, 3, "  s") != 0 && begin < printed.size()) {
    const std::size_t end = printed.find('\n', begin) + 1;
    const std::string line = printed.substr(begin, end - begin);
    if (line.starts_with("  S'") || line.starts_with("  output")) break;
    if (all || (line.find("] once =") == std::string::npos && line.find("] sample =") == std::string::npos)) {
      result += line;
    }
    begin = end;
  }
  return result;
}

std::string legal(const std::string& expression) {
  const Cell cell = simplify(legalise(cell_with("  S' = S\n  s' = s\n  output y = " + expression)));
  verify(cell);
  verify_legal(cell);
  return values(cell);
}

/// Lines of the backward cell of `s' = EXPRESSION` that hold `word`.
std::string backward_lines(const std::string& expression, const std::string& word) {
  const Cell forward = simplify(cell_with("  S' = S\n  s' = " + expression + "\n  output s'"));
  const Cell backward = simplify(legalise(simplify(strip_annotations(differentiate(forward)))));
  verify(backward);
  verify_legal(backward);
  std::string result;
  const std::string printed = print(backward);
  for (std::size_t begin = 0; begin < printed.size(); begin = printed.find('\n', begin) + 1) {
    const std::string line = printed.substr(begin, printed.find('\n', begin) - begin);
    if (line.find(word) != std::string::npos && line.find("# ") == std::string::npos) {
      result += line.substr(line.find("= ") + 2) + "\n";
    }
  }
  return result;
}

}  // namespace

TEST_CASE("products with a matrix that the batch shares are linear") {
  CHECK(legal("A @ x") == "  y: [H] = linear(A, x)\n");
  CHECK(legal("x @ A") == "  y: [H] = linear(x, A)\n");
  CHECK(legal("transpose(A) @ x") == "  y: [H] = linear(x, A)\n");
  CHECK(legal("S @ A") == "  y: [H, H] = linear(S, A)\n");
  CHECK(legal("A @ S") == "  %4: [H, H] = transpose(S)\n  %5: [H, H] = linear(A, %4)\n  y: [H, H] = transpose(%5)\n");
}

TEST_CASE("products with a matrix of each sample are elementwise") {
  CHECK(legal("x @ S") == R"(  %4: [H, H] = broadcast(x, [H, H], axes=[0])
  %5: [H, H] = %4 * S
  y: [H] = sum(%5, axis=0)
)");
  CHECK(legal("S @ x") == R"(  %4: [H, H] = broadcast(x, [H, H], axes=[1])
  %5: [H, H] = S * %4
  y: [H] = sum(%5, axis=1)
)");
  CHECK(legal("outer(x, z)") == R"(  %4: [H, H] = broadcast(x, [H, H], axes=[0])
  %5: [H, H] = broadcast(z, [H, H], axes=[1])
  y: [H, H] = %4 * %5
)");
}

TEST_CASE("composites are expanded, also within expansions") {
  CHECK(legal("clamp(x, -1, 1)") == "  %4: [H] = max(x, -1)\n  y: [H] = min(%4, 1)\n");
  CHECK(legal("square(x)") == "  y: [H] = x * x\n");
  CHECK(legal("hard_sigmoid(x)") ==
        "  %4: [H] = x / 6\n  %5: [H] = %4 + 0.5\n  %6: [H] = max(%5, 0)\n  y: [H] = min(%6, 1)\n");
}

TEST_CASE("gradients of matrices are sums of outer products") {
  CHECK(backward_lines("A @ x", "accumulate") == "accumulate_outer(d_s', x; steps, samples)\n");
  CHECK(backward_lines("x @ A", "accumulate") == "accumulate_outer(x, d_s'; steps, samples)\n");
}

TEST_CASE("factors that are parameters leave a sum of outer products") {
  // The gradient of A in (A * outer(a, a)) @ x.
  const std::string lines = backward_lines("(A * outer(a, a)) @ x", "accumulate");
  CHECK(lines == "accumulate_outer(d_s', x; steps, samples)\n");
  // An outer product of the step's own times a parameter.
  CHECK(backward_lines("sum(A * outer(x, z)) * x", "accumulate") == "accumulate_outer(%18, z; steps, samples)\n");
}

TEST_CASE("what is not legal is named") {
  CHECK_THROWS_AS(verify_legal(cell_with("  S' = S\n  s' = s\n  output y = A @ x")), InternalError);
}
