#include "passes/split_time.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "ir/print_node.h"
#include "passes/hoist_invariants.h"
#include "passes/legalise.h"
#include "passes/recognize_scan.h"
#include "passes/simplify.h"
#include "tests/support/zoo.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

/// A cell with inputs x[I], u[H], states h[H], S[H, H], and matrices.
Cell legal_cell(const std::string& statements) {
  const std::string text =
      "cell t(I, H) {\n  input x[I], u[H]\n  state h[H], S[H, H]\n  param W[H, I], U[H, H], V[2*H, H + I], b[H]\n" +
      statements + "\n}\n";
  return simplify(legalise(cell_from_text(text, {{"H", 4}, {"I", 3}})));
}

Sequence split(const std::string& statements) {
  Sequence sequence = split_time(legal_cell(statements));
  verify(sequence);
  return sequence;
}

/// Expressions of the values of a phase, without views and starts of states; `; ` between them.
std::string in_phase(const Sequence& sequence, Phase phase) {
  const std::vector<bool> live = reachable(sequence.cell.graph, sequence.cell.roots());
  const ValueNames names(sequence.cell, live);
  std::string result;
  for (NodeId id = 0; id < sequence.cell.graph.size(); ++id) {
    const Node& node = sequence.cell.graph[id];
    if (!live[id] || sequence.placement[id].phase != phase || is_leaf(node.op) || is_view(node.op)) continue;
    if (node.domain == Domain::Sample) continue;
    result += (result.empty() ? "" : "; ") + names.expression(id);
  }
  return result;
}

}  // namespace

TEST_CASE("the product of the input leaves the loop, the cheap addition stays") {
  const Sequence sequence = split("  S' = S\n  h' = tanh(W @ x + b + U @ h)\n  output h'");
  CHECK(in_phase(sequence, Phase::Before) == "linear(W, x)");
  CHECK(in_phase(sequence, Phase::Step) == "%2 + b; linear(U, h); %3 + %4; tanh(%5)");
  CHECK(in_phase(sequence, Phase::After).empty());
  REQUIRE(crossing_values(sequence).size() == 1);
  CHECK(sequence.cell.graph[crossing_values(sequence)[0]].op == Op::Linear);
}

TEST_CASE("a product that feeds no state comes after the loop, with what depends on it") {
  const Sequence sequence = split("  S' = S\n  h' = h + u\n  output y = sigmoid(U @ h') * h'");
  CHECK(in_phase(sequence, Phase::Step) == "h + u");
  CHECK(in_phase(sequence, Phase::After) == "linear(U, h'); sigmoid(%4); %5 * h'");
}

TEST_CASE("other work that feeds no state stays beside what it reads") {
  const Sequence sequence = split("  S' = S\n  h' = tanh(U @ h)\n  output y = exp(h') * 2");
  CHECK(in_phase(sequence, Phase::After).empty());
}

TEST_CASE("an outer product is cheaper to compute in the loop than to keep") {
  const Sequence sequence = split("  S' = S + outer(W @ x, u)\n  h' = h\n  output S'");
  CHECK(in_phase(sequence, Phase::Before) == "linear(W, x)");
  CHECK(in_phase(sequence, Phase::Step) == "%5 * %6; S + %7");
}

TEST_CASE("transcendental work is done before a loop that waits for products, and in one that does not") {
  const Sequence waits = split("  S' = S\n  h' = tanh(U @ h) * sigmoid(W @ x)\n  output h'");
  CHECK(in_phase(waits, Phase::Before) == "linear(W, x); sigmoid(%4)");
  const Sequence scan = split("  S' = S\n  h' = tanh(h) * sigmoid(W @ x)\n  output h'");
  CHECK(in_phase(scan, Phase::Before) == "linear(W, x)");
}

TEST_CASE("a normalisation of the input is done before the loop") {
  const Sequence sequence = split("  S' = S\n  h' = tanh(layer_norm(W @ x) + U @ h)\n  output h'");
  CHECK(in_phase(sequence, Phase::Step).find("sum") == std::string::npos);
  REQUIRE(crossing_values(sequence).size() == 1);
}

TEST_CASE("products of concatenations and of which slices feed no state are divided") {
  const Sequence sequence = split("  a, c = split(V @ concat(h, x), 2)\n  S' = S\n  h' = tanh(a)\n  output y = c");
  // In the loop only the part that reads h and feeds it.
  CHECK(in_phase(sequence, Phase::Before) == "linear(%3, x)");
  CHECK(in_phase(sequence, Phase::Step) == "linear(%5, h); %4 + %6; tanh(a)");
  CHECK(in_phase(sequence, Phase::After) == "linear(%10, x); linear(%12, h); %11 + %13");
}

TEST_CASE("work on parameters is done once a call") {
  const Sequence sequence = hoist_invariants(split("  S' = S\n  h' = tanh((U - transpose(U)) @ h)\n  output h'"));
  CHECK(in_phase(sequence, Phase::Once) == "U - %2");
  CHECK(std::ranges::any_of(sequence.reasons, [](const std::string& reason) {
    return reason == "U - %2 depends on parameters only: computed once a call";
  }));
}

TEST_CASE("nothing is hoisted when asked not to") {
  const Sequence sequence = keep_in_loop(legal_cell("  S' = S\n  h' = tanh(W @ x + U @ h)\n  output y = U @ h'"));
  verify(sequence);
  CHECK(in_phase(sequence, Phase::Before).empty());
  CHECK(in_phase(sequence, Phase::After).empty());
}

TEST_CASE("loops without products, linear or not") {
  auto loop = [](const std::string& statements) { return recognize_scan(split(statements)).loops.at(0); };
  const Loop product = loop("  S' = S\n  h' = tanh(U @ h)\n  output h'");
  CHECK(product.has_gemm);
  CHECK(!product.linear);
  const Loop linear = loop("  S' = S * 0.5\n  h' = sigmoid(W @ x) * h + where(u > 0, u, -h)\n  output h'");
  CHECK(!linear.has_gemm);
  CHECK(linear.linear);
  CHECK(!loop("  S' = S\n  h' = h * h\n  output h'").linear);
  CHECK(!loop("  S' = S\n  h' = tanh(h)\n  output h'").linear);
  CHECK(!loop("  S' = S\n  h' = u / h\n  output h'").linear);
  CHECK(!loop("  S' = S * sum(h)\n  h' = h\n  output S'").linear);
  CHECK(!loop("  S' = transpose(S)\n  h' = h\n  output S'").linear);
}

TEST_CASE("the verifier finds values that are read before they are made") {
  Sequence sequence = split("  S' = S\n  h' = tanh(W @ x + U @ h)\n  output h'");
  for (NodeId id = 0; id < sequence.cell.graph.size(); ++id) {
    if (sequence.cell.graph[id].op == Op::Linear) sequence.placement[id].phase = Phase::After;
  }
  CHECK_THROWS_AS(verify(sequence), InternalError);
}

TEST_CASE("a sequence as text") {
  const Sequence sequence =
      split_time(simplify(legalise(cell_from_text("cell t(H) {\n  input x[H]\n  state h[H]\n  param W[H, H], U[H, H]\n"
                                                  "  h' = tanh(W @ x + U @ h)\n  output h'\n}\n",
                                                  {{"H", 2}}))));
  CHECK(print(recognize_scan(sequence)) == R"(sequence t(H=2) {
  input  x[H]
  state  h[H]
  param  W[H, H]
  param  U[H, H]
  once:  # once a call
    %0: [H] once = broadcast(given(h), [H], axes=[])
    %1: [H] sample = where(%0, initial(h), 0)
  before:  # all steps at once, before the loop
    %2: [H] = linear(W, x)  # kept for all steps
  step:  # the loop
    loop t: first step to last, carries h
    %3: [H] = linear(U, h)
    %4: [H] = %2 + %3
    h': [H] = tanh(%4)
  start h = %1
  h' = h'
  output h[H] = h'
}
)");
}
