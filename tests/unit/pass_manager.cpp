#include "passes/pass_manager.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"
#include "passes/pipeline.h"
#include "tests/support/zoo.h"

using namespace cellfuse;
using namespace cellfuse::testing;

namespace {

Cell small_cell() {
  return cell_from_text(
      "cell t(H) {\n  input x[H]\n  state h[H]\n  param U[H, H]\n  h' = tanh(x * 1 + U @ h)\n  output h'\n}\n",
      {{"H", 2}});
}

PipelineOptions for_cpu() {
  PipelineOptions options;
  options.plan.target = *find_target("cpu");
  return options;
}

std::string printed(PassManagerOptions options, std::string_view last) {
  std::string text;
  options.print = [&text](std::string_view part) { text += part; };
  PassManager manager(options);
  run_pipeline(small_cell(), for_cpu(), manager, last);
  return text;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t number = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++number;
  return number;
}

}  // namespace

TEST_CASE("prints after the passes asked for") {
  PassManagerOptions options;
  options.print_after = {"legalise"};
  const std::string text = printed(options, "legalise");
  CHECK(count(text, "# ") >= 3);
  CHECK(count(text, " after legalise\n") == 3);
  CHECK(text.starts_with("# inference after legalise\ncell t("));
  CHECK(text.find("# backward after legalise\ncell t_backward(") != std::string::npos);
  options.print_after = {"all"};
  CHECK(count(printed(options, "legalise"), " after ") > 15);
}

TEST_CASE("prints what changed, and new programs") {
  PassManagerOptions options;
  options.print_changed = true;
  const std::string text = printed(options, "legalise");
  CHECK(text.find("# forward after bind_mode") == std::string::npos);
  CHECK(text.find("# forward after add_resets") != std::string::npos);
  CHECK(text.find("# backward after differentiate") != std::string::npos);
  CHECK(text.find("# forward after differentiate") == std::string::npos);
}

TEST_CASE("times every pass and program") {
  PassManager manager({});
  run_pipeline(small_cell(), for_cpu(), manager, "choose_saved");
  std::set<std::string> passes;
  for (const PassTime& time : manager.times()) {
    CHECK(time.seconds >= 0);
    passes.insert(time.program + " " + time.pass);
  }
  CHECK(passes.contains("inference simplify"));
  CHECK(passes.contains("backward legalise"));
  CHECK(passes.contains("backward choose_saved"));
}

TEST_CASE("a failing pass leaves its input in a file and an error that names both") {
  const std::filesystem::path folder = std::filesystem::path(CELLFUSE_BINARY_DIR) / "reproducers";
  std::filesystem::remove_all(folder);
  PassManagerOptions options;
  options.reproducer_folder = folder.string();
  PassManager manager(options);
  Program program{"forward", small_cell(), {}, {}};
  auto fail = [&] {
    program.cell.outputs.clear();
    throw InternalError("somewhere", "broken");
  };
  std::string message;
  try {
    manager.run("bad_pass", [&] { return std::span(&program, 1); }, fail);
  } catch (const InternalError& error) {
    CHECK(error.where() == "bad_pass");
    message = error.what();
  }
  const std::filesystem::path file = folder / "t.bad_pass.txt";
  CHECK(message.find("broken") != std::string::npos);
  CHECK(message.find(file.string()) != std::string::npos);
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  CHECK(text.str() == "# the program forward before bad_pass\n" + print(small_cell()) + "\n");
}

TEST_CASE("the verifier runs after a pass when asked") {
  PassManagerOptions options;
  options.verify = true;
  PassManager manager(options);
  Program program{"forward", small_cell(), {}, {}};
  auto break_it = [&] { program.cell.states[0].next = program.cell.states[0].start + 1000; };
  CHECK_THROWS_AS(manager.run("bad_pass", [&] { return std::span(&program, 1); }, break_it), InternalError);
}

TEST_CASE("errors of the user go through as they are") {
  PassManager manager({});
  Program program{"forward", small_cell(), {}, {}};
  auto complain = [] { throw CompileError("no"); };
  CHECK_THROWS_AS(manager.run("pass", [&] { return std::span(&program, 1); }, complain), CompileError);
}

TEST_CASE("the pipeline as a table") {
  for (const PipelineRow& row : pipeline()) {
    CAPTURE(row.name);
    CHECK(!row.duty.empty());
    CHECK((row.each == nullptr) != (row.joint == nullptr));
  }
  PassManager manager({});
  CHECK_THROWS_AS(run_pipeline(small_cell(), for_cpu(), manager, "no_such_pass"), InternalError);
}
