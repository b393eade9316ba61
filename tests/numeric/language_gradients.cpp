// Gradients of what only the language can say: functions with their own derivative, unrolled loops, matrix states,
// learned starts. The derivatives given are the true ones, so differences tell.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "passes/add_resets.h"
#include "passes/bind_mode.h"
#include "tests/support/check_gradients.h"
#include "tests/support/zoo.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

const std::vector<std::pair<std::string, std::string>> kTexts{
    {"a function with its own derivative", R"(
fn wave(v) = sin(v) grad g * cos(v)
cell test(H) {
  input x[H]
  state h[H]
  param W[H, H]
  h' = wave(W @ h + x)
  output h'
})"},
    {"several arguments of other shapes, nested, of parameters alone", R"(
fn wave(v) = sin(v) grad g * cos(v)
fn scaled(a, b) = wave(a) * b grad g * b * cos(a), g * wave(a)
cell test(H) {
  input x[H]
  state h[H], k
  param p[H], q, W[H, H]
  z = scaled(W @ h + x, q) + scaled(p, q)
  h' = scaled(z, p * scaled(p, p))
  k' = 0.5 * k + scaled(q, sum(h))
  output y = scaled(k', h')
})"},
    {"a gradient that does not use the incoming one's shape", R"(
fn total(v) = sum(v * v) grad 2 * g * v
cell test(H) {
  input x[H]
  state h[H]
  h' = 0.3 * h + x / (1 + total(x + h))
  output y = total(h')
})"},
    {"a loop that redefines a name", R"(
cell test(H, N = 3) {
  input x[H]
  state h[H]
  param W[N*H, H]
  q = x
  for k in 0..N { q = tanh(W[k*H:(k+1)*H] @ q) * (1 + k) + h[k] }
  h' = q
  output h'
})"},
    {"a matrix state with a learned start, and a reset of the user's", R"(
cell test(H, K = 2) {
  input x[H], flag
  state S[K, H] = S0, m[H] = 0.5
  param S0[K, H], W[K, H], a[K]
  k = W @ x
  kept = where(flag > 0, S0, S)
  S' = sigmoid(a)[:, None] * kept + outer(k, tanh(x))
  m' = amax(S', axis=0) * (x[0] + 0.5 * m)
  output y = k @ S' + m'
  output z = S'
})"},
    {"reductions along both axes, running sums, products, norms", R"(
cell test(H) {
  input x[H]
  state S[2, H]
  param p[2, H]
  z = S + p * x
  S' = 0.5 * softmax(z, axis=0) + cumsum(z, axis=1) / (1 + norm2(z, axis=0))
  output y = prod(S', axis=1)
  output w = layer_norm(z, p[0], p[1]) * amax(z, axis=1)[:, None] - amin(z, axis=0)
})"},
    {"work on parameters alone", R"(
cell test(H) {
  input x[H]
  state h[H]
  param U[H, H], g[H]
  buffer B[H, H]
  A = U - transpose(U) - 0.1 * eye(H)
  n = g / sqrt(sum(square(g)) + 1)
  h' = tanh((A @ B @ A) @ h + n * x)
  output h'
})"},
};

}  // namespace

TEST_CASE("first and second derivatives of cells given as text") {
  unsigned seed = 20;
  for (const auto& [what, text] : kTexts) {
    CAPTURE(what);
    const Cell cell = bind_mode(add_resets(cell_from_text(text, {{"H", 3}})), false);
    for (const bool given : {true, false}) {
      CAPTURE(given);
      RandomRun random(++seed);
      RunArguments arguments = random.arguments(cell, 3, 2);
      if (!given) arguments.initial.clear();
      arguments.live = {1, 1, 1, 0, 1, 1};
      arguments.reset = {0, 0, 0, 1, 0, 1};
      arguments.reverse = given;
      check_gradients(cell, arguments, random);
    }
  }
}
