#include <doctest/doctest.h>

#include <algorithm>

#include "ir/diagnostic.h"
#include "ir/functions.h"
#include "passes/choose_layout.h"
#include "passes/pipeline.h"
#include "tests/support/small_cells.h"

using namespace cellfuse;

namespace {

/// A vanilla RNN; with `norm`, its pre-activation is normalised over the hidden axis.
Cell rnn(bool norm) {
  testing::CellMaker make;
  make.cell().name = "rnn";
  Expr x = make.input("x", {3});
  Expr h = make.state("h", {4});
  Expr w = make.param("W", {4, 3});
  Expr u = make.param("U", {4, 4});
  Expr z = matmul(u, h);
  if (norm) z = layer_norm(z, std::nullopt, std::nullopt, 1e-5, 0);
  Expr next = tanh(matmul(w, x) + z);
  make.next(h, next);
  make.output("h", next);
  return make.cell();
}

ProgramSet lowered(const Cell& cell, PlanOptions options = {}, std::string_view last = {}) {
  options.target = *find_target("cpu");
  PipelineOptions pipeline;
  pipeline.plan = options;
  PassManagerOptions checked;
  checked.verify = true;
  PassManager manager(checked);
  return run_pipeline(cell, pipeline, manager, last);
}

const TimeLoop& loop_of(const Plan& plan) {
  for (const Stage& stage : plan.chunk) {
    if (const auto* loop = std::get_if<TimeLoop>(&stage)) return *loop;
  }
  throw InternalError("test", "a plan without a loop");
}

std::vector<const Kernel*> kernels_of(const std::vector<Stage>& stages) {
  std::vector<const Kernel*> found;
  for (const Stage& stage : stages) {
    if (const auto* kernel = std::get_if<Kernel>(&stage)) found.push_back(kernel);
  }
  return found;
}

const Gemm& gemm_of(const TimeLoop& loop) {
  for (const Stage& stage : loop.body) {
    if (const auto* gemm = std::get_if<Gemm>(&stage)) return *gemm;
  }
  throw InternalError("test", "a loop without a GEMM");
}

}  // namespace

TEST_CASE("a step of a vanilla RNN waits for one GEMM, and its elementwise work is one nest") {
  ProgramSet set = lowered(rnn(false));
  const Plan& plan = *set.find("inference")->plan;
  const TimeLoop& loop = loop_of(plan);
  std::vector<const Kernel*> kernels = kernels_of(loop.body);
  REQUIRE(kernels.size() == 2);  // the reset selection, then the rest
  CHECK(kernels[1]->nests.size() == 1);
  CHECK(kernels[1]->nests[0].kind == NestKind::Map);
  CHECK(loop.strategy == Strategy::Stepwise);
  REQUIRE(plan.candidates.size() == 2);
  CHECK(plan.candidates[1].reason == "the step waits for 1 GEMM(s)");
}

TEST_CASE("layer normalisation takes two reductions and a map, and no memory but scratch") {
  ProgramSet set = lowered(rnn(true));
  const TimeLoop& loop = loop_of(*set.find("inference")->plan);
  const Kernel& kernel = *kernels_of(loop.body).back();
  REQUIRE(kernel.nests.size() >= 3);
  CHECK(kernel.nests[0].kind == NestKind::Reduce);
  CHECK(kernel.nests.back().kind == NestKind::Map);
}

TEST_CASE("without fusion each operation is a kernel of its own") {
  PlanOptions options;
  options.fuse = false;
  ProgramSet fused = lowered(rnn(false));
  ProgramSet separate = lowered(rnn(false), options);
  std::size_t few = kernels_of(loop_of(*fused.find("backward")->plan).body).size();
  std::size_t many = kernels_of(loop_of(*separate.find("backward")->plan).body).size();
  CHECK(few == 2);
  CHECK(many >= 6);
}

TEST_CASE("the matrix of a loop's GEMM is packed once a call, unless layouts are switched off") {
  ProgramSet set = lowered(rnn(false));
  const Plan& plan = *set.find("inference")->plan;
  const Gemm& gemm = gemm_of(loop_of(plan));
  CHECK(gemm.code == GemmCode::Generated);
  CHECK(plan.buffers[static_cast<std::size_t>(gemm.b)].order == Order::Panels);
  REQUIRE(!plan.once.empty());
  CHECK(std::holds_alternative<Pack>(plan.once.back()));

  PlanOptions plain;
  plain.layout = false;
  ProgramSet as_it_lies = lowered(rnn(false), plain);
  const Plan& second = *as_it_lies.find("inference")->plan;
  const Gemm& library = gemm_of(loop_of(second));
  CHECK(library.code == GemmCode::Library);
  CHECK(second.buffers[static_cast<std::size_t>(library.b)].space == Space::Param);
}

TEST_CASE("measured costs replace the model") {
  struct LibraryIsFree final : GemmCosts {
    double seconds(const GemmQuery& query) const override { return query.code == GemmCode::Library ? 0 : 1; }
  };
  PlanOptions options;
  options.target = *find_target("cpu");
  ProgramSet set = lowered(rnn(false), {}, "choose_strategy");
  Plan plan = choose_layout(*set.find("inference")->plan, options, LibraryIsFree{});
  CHECK(gemm_of(loop_of(plan)).code == GemmCode::Library);
}

TEST_CASE("a loop whose GEMM crosses blocks has an exchange for it") {
  PlanOptions options;
  options.target = *find_target("h200");
  PipelineOptions pipeline;
  pipeline.plan = options;
  PassManager manager({});
  ProgramSet set = run_pipeline(rnn(false), pipeline, manager);
  const std::vector<Stage>& body = loop_of(*set.find("inference")->plan).body;
  auto exchanges =
      std::count_if(body.begin(), body.end(), [](const Stage& s) { return std::holds_alternative<Exchange>(s); });
  CHECK(exchanges == 1);
}

TEST_CASE("the verifier of plans finds") {
  ProgramSet set = lowered(rnn(true));
  Plan plan = *set.find("backward")->plan;
  REQUIRE_NOTHROW(verify(plan));

  SUBCASE("buffers that overlap while both are in use") {
    std::vector<Buffer*> steps;
    for (Buffer& buffer : plan.buffers) {
      if (buffer.space == Space::Workspace && buffer.time && buffer.last_use >= 0) steps.push_back(&buffer);
    }
    REQUIRE(steps.size() >= 2);
    for (Buffer* buffer : steps) {
      buffer->offset = 0;
      buffer->first_use = 0;
    }
    CHECK_THROWS_WITH_AS(verify(plan), doctest::Contains("share memory"), InternalError);
  }
  SUBCASE("a value that is read before it is made") {
    plan.chunk.erase(plan.chunk.begin());
    CHECK_THROWS_WITH_AS(verify(plan), doctest::Contains("before it is made"), InternalError);
  }
  SUBCASE("a store that no nest makes") {
    for (Stage& stage : plan.finish) {
      if (auto* kernel = std::get_if<Kernel>(&stage)) kernel->nests.pop_back();
    }
    CHECK_THROWS_WITH_AS(verify(plan), doctest::Contains("made by no nest"), InternalError);
  }
  SUBCASE("a state without a next value") {
    for (Stage& stage : plan.chunk) {
      if (auto* loop = std::get_if<TimeLoop>(&stage)) loop->body.clear();
    }
    CHECK_THROWS_WITH_AS(verify(plan), doctest::Contains("has no next value"), InternalError);
  }
}

TEST_CASE("targets are found by name") {
  CHECK(find_target("h200")->blocks == 132);
  CHECK(find_target("sm_90")->kind == TargetKind::Cuda);
  CHECK_FALSE(find_target("sm_").has_value());
  CHECK_FALSE(find_target("sm_9x").has_value());
  CHECK_FALSE(find_target("tpu").has_value());
}
