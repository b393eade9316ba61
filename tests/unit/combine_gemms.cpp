#include "passes/combine_gemms.h"

#include <doctest/doctest.h>

#include "ir/print_node.h"
#include "passes/choose_saved.h"
#include "passes/differentiate.h"
#include "passes/legalise.h"
#include "passes/simplify.h"
#include "passes/split_time.h"
#include "passes/strip_annotations.h"
#include "tests/support/zoo.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

Cell cell_with(const std::string& statements) {
  const std::string text =
      "cell t(I, H) {\n  input x[I]\n  state h[H], c[H]\n"
      "  param W1[H, I], W2[H, I], U1[H, H], U2[H, H], V1[H, H], V2[H, H]\n" +
      statements + "\n  output h'\n}\n";
  return cell_from_text(text, {{"H", 4}, {"I", 3}});
}

/// The products of a sequence: `phase: expression`, a line each, with the concatenations they read written out.
std::string products(const Sequence& sequence) {
  verify(sequence);
  const Graph& graph = sequence.cell.graph;
  const std::vector<bool> live = reachable(graph, sequence.cell.roots());
  const ValueNames names(sequence.cell, live);
  std::string result;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    const bool product = node.op == Op::Linear || node.op == Op::AccumulateOuter;
    if (!live[id] || !product) continue;
    result += std::string(name(sequence.placement[id].phase)) + ": " + names.expression(id);
    for (NodeId operand : node.operands) {
      if (graph[operand].op == Op::Concat) result += ", " + names[operand] + " = " + names.expression(operand);
    }
    result += "\n";
  }
  return result;
}

std::string combined(const std::string& statements) {
  return products(combine_gemms(split_time(simplify(legalise(cell_with(statements))))));
}

std::string combined_backward(const std::string& statements) {
  const Cell forward = simplify(cell_with(statements));
  const Cell backward = simplify(legalise(simplify(strip_annotations(differentiate(forward)))));
  const SavedProgram program =
      choose_saved(simplify(legalise(forward)), backward, MemoryMode::Balanced, DType::Float32);
  return products(combine_gemms(split_time(program.backward)));
}

}  // namespace

TEST_CASE("products of the same operand in the same phase are one") {
  CHECK(combined("  c' = tanh(W1 @ x + U1 @ h)\n  h' = sigmoid(W2 @ x + U2 @ h) * c'") ==
        "before: linear(%2, x), %2 = concat(W1, W2, axis=0)\n"
        "step: linear(%5, h), %5 = concat(U1, U2, axis=0)\n");
}

TEST_CASE("matrices that are parts of one come back together") {
  CHECK(combined("  c' = concat(U1[0:2] @ h, c[2:4])\n  h' = concat(c'[0:2], U1[2:4] @ h)") == "step: linear(U1, h)\n");
}

TEST_CASE("a sum of products in the loop is one") {
  CHECK(combined("  c' = c\n  h' = tanh(U1 @ h + V1 @ c)") ==
        "step: linear(%3, %2), %2 = concat(h, c, axis=0), %3 = concat(U1, V1, axis=1)\n");
  // Also where several gates are sums of the same operands.
  CHECK(combined("  c' = tanh(U1 @ h + V1 @ c)\n  h' = tanh(U2 @ h + V2 @ c)") ==
        "step: linear(%5, %2), %2 = concat(h, c, axis=0), %5 = concat(%3, %4, axis=0)\n");
  // A difference takes a negated matrix, made once a call.
  CHECK(combined("  c' = c\n  h' = tanh(U1 @ h - V1 @ c)") ==
        "step: linear(%4, %2), %2 = concat(h, c, axis=0), %4 = concat(%3, V1, axis=1)\n");
}

TEST_CASE("a product does not wait for another one when it can be one with a third") {
  CHECK(combined("  r = sigmoid(U2 @ h)\n  c' = c\n  h' = tanh(U1 @ h + V1 @ (r * h))") ==
        "step: linear(%2, h), %2 = concat(U1, U2, axis=0)\nstep: linear(V1, %6)\n");
  // Alone, it waits: two products rather than three.
  CHECK(combined("  r = sigmoid(U2 @ h)\n  c' = c\n  h' = tanh(U1 @ c + V1 @ (r * h))") ==
        "step: linear(U2, h)\nstep: linear(%5, %4), %4 = concat(c, %3, axis=0), %5 = concat(U1, V1, axis=1)\n");
}

TEST_CASE("products that are read otherwise too stay alone") {
  CHECK(combined("  a = U1 @ h\n  c' = a\n  h' = tanh(a + V1 @ c)") == "step: linear(U1, h)\nstep: linear(V1, c)\n");
}

TEST_CASE("backward: one product each for the state, the input and the matrices") {
  CHECK(combined_backward("  c' = tanh(W1 @ x + U1 @ h)\n  h' = sigmoid(W2 @ x + U2 @ h) * c'") ==
        "step: linear(%10, %11), %10 = concat(%5, %9, axis=0), %11 = concat(U1, U2, axis=0)\n"
        "after: linear(%10, %15), %10 = concat(%5, %9, axis=0), %15 = concat(W1, W2, axis=0)\n"
        "after: accumulate_outer(%10, x; steps, samples), %10 = concat(%5, %9, axis=0)\n"
        "after: accumulate_outer(%10, prev_h; steps, samples), %10 = concat(%5, %9, axis=0)\n");
}
