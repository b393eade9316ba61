#include "passes/choose_saved.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "passes/differentiate.h"
#include "passes/legalise.h"
#include "passes/simplify.h"
#include "passes/strip_annotations.h"
#include "tests/support/zoo.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

SavedProgram saved(const std::string& text, MemoryMode mode, DType dtype = DType::Float32) {
  const Cell forward = simplify(cell_from_text(text, {{"H", 4}, {"I", 3}}));
  const Cell backward = differentiate(forward);
  SavedProgram program = choose_saved(simplify(legalise(strip_annotations(forward))),
                                      simplify(legalise(simplify(strip_annotations(backward)))), mode, dtype);
  verify(program.forward);
  verify(program.backward);
  return program;
}

/// Names of the fields of the record, sorted.
std::string names(const SavedProgram& program) {
  std::set<std::string> sorted;
  for (const SavedValue& value : program.saved) sorted.insert(value.name);
  std::string result;
  for (const std::string& name : sorted) result += (result.empty() ? "" : " ") + name;
  return result;
}

int count(const Cell& cell, Op op) {
  const std::vector<bool> live = reachable(cell.graph, cell.roots());
  int total = 0;
  for (NodeId id = 0; id < cell.graph.size(); ++id) total += live[id] && cell.graph[id].op == op ? 1 : 0;
  return total;
}

const char* const kLstm = R"(cell lstm(I, H) {
  input x[I]
  state h[H], c[H]
  param W[4*H, I], U[4*H, H], b[4*H]
  i, f, g, o = split(W @ x + U @ h + b, 4)
  c' = sigmoid(f) * c + sigmoid(i) * tanh(g)
  h' = sigmoid(o) * tanh(c')
  output h'
})";

}  // namespace

TEST_CASE("what each memory mode keeps of an LSTM") {
  const SavedProgram fast = saved(kLstm, MemoryMode::Fast);
  CHECK(names(fast) == "prev_c prev_h sigmoid_f sigmoid_i sigmoid_o tanh_g tanh_next_c");
  CHECK(fast.bytes() == 7 * 4 * 4);
  // tanh(c') is computed again from what is there.
  const SavedProgram balanced = saved(kLstm, MemoryMode::Balanced);
  CHECK(names(balanced) == "prev_c prev_h sigmoid_f sigmoid_i sigmoid_o tanh_g");
  CHECK(balanced.bytes() == 6 * 4 * 4);
  CHECK(std::ranges::any_of(balanced.recomputed, [](const RecomputedValue& value) { return value.name == "c'"; }));
  CHECK(saved(kLstm, MemoryMode::Balanced, DType::BFloat16).bytes() == 6 * 4 * 2);
}

TEST_CASE("the record is the last outputs of forward and the last inputs of backward, in the same order") {
  const SavedProgram program = saved(kLstm, MemoryMode::Balanced);
  std::vector<std::string> outputs;
  for (const CellOutput& output : program.forward.outputs) {
    if (output.role == OutputRole::Record) outputs.push_back(output.name);
  }
  std::vector<std::string> inputs;
  for (const CellInput& input : program.backward.inputs) {
    if (input.role == InputRole::Record) inputs.push_back(input.name);
  }
  CHECK(outputs == inputs);
  CHECK(outputs.size() == program.saved.size());
  CHECK(program.forward.outputs.back().role == OutputRole::Record);
  CHECK(program.backward.inputs.back().role == InputRole::Record);
}

TEST_CASE("a product with a matrix is never computed twice, in no mode") {
  for (MemoryMode mode : {MemoryMode::Fast, MemoryMode::Balanced, MemoryMode::Small}) {
    const SavedProgram program = saved(kLstm, mode);
    CHECK(count(program.forward, Op::Linear) == 2);
    CHECK(count(program.backward, Op::Linear) == 2);  // d_x and d_h
  }
}

TEST_CASE("a state that backward does not need is not saved, nor are inputs and params") {
  const SavedProgram program = saved(R"(cell t(I, H) {
  input x[I], g[H]
  state h[H]
  param W[H, I]
  h' = h + g * (W @ x)
  output h'
})",
                                     MemoryMode::Balanced);
  CHECK(names(program) == "linear_x");
}

TEST_CASE("the smaller side of an outer product is saved") {
  const SavedProgram program = saved(R"(cell t(I, H) {
  input x[I]
  state S[H, H]
  param K[H, I], V[H, I]
  S' = tanh(outer(K @ x, V @ x)) * S
  output y = sum(S')
})",
                                     MemoryMode::Balanced);
  CHECK(names(program) == "linear_x linear_x_2 prev_S");
}

TEST_CASE("small: reductions are computed again") {
  const char* text = R"(cell t(I, H) {
  input x[I]
  state h[H]
  param W[H, I]
  z = W @ x
  h' = h + z * exp(sum(z))
  output h'
})";
  CHECK(names(saved(text, MemoryMode::Balanced)) == "exp z");
  CHECK(names(saved(text, MemoryMode::Small)) == "z");
}

TEST_CASE("names of modes") {
  for (MemoryMode mode : {MemoryMode::Fast, MemoryMode::Balanced, MemoryMode::Small}) {
    CHECK(memory_mode_from_name(name(mode)) == mode);
  }
  CHECK(!memory_mode_from_name("huge"));
}
