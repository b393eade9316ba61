#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

#include "frontend/cli/cell_arguments.h"
#include "frontend/cli/table.h"
#include "frontend/cli/tensors.h"
#include "ir/diagnostic.h"
#include "runtime/explain.h"

namespace cellfuse::cli {

namespace {

struct BenchArguments {
  CellArguments cell;
  std::int64_t steps = 64;
  std::int64_t batch = 32;
  bool train = false;
  std::vector<std::string> against;
  int repeats = 30;
  double seconds = 20;
};

/// One way to run the cell, and how long its runs took.
struct Contender {
  std::string name;
  Executable executable;
  std::shared_ptr<CallTensors> tensors;
  std::vector<double> seconds;

  void run(bool train) {
    const Interface& interface = executable.interface();
    const auto begin = std::chrono::steady_clock::now();
    if (train) {
      Record record = executable.forward_training(tensors->forward(interface));
      executable.backward(std::move(record), tensors->backward(interface));
    } else {
      executable.forward(tensors->forward(interface));
    }
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

  /// Of the sorted times; 0.5 is the median.
  double quantile(double q) const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
  }
};

CompileOptions variant(const CompileOptions& options, const std::string& name) {
  if (name == "unfused") return unfused(options);
  CompileOptions changed = options;
  if (name == "no-fusion") changed.fusion = false;
  if (name == "no-hoisting") changed.hoisting = false;
  if (name == "no-gemm-combining") changed.gemm_combining = false;
  if (name == "no-layout") changed.layout = false;
  return changed;
}

double flops(const Contender& contender, bool train) {
  double sum = 0;
  for (const ProgramSummary& program : contender.executable.explain().programs) {
    if ((program.kind == ProgramKind::Inference) == train) continue;
    sum += program.flops_a_step + program.flops_outside;
  }
  return sum * static_cast<double>(contender.tensors->steps) * static_cast<double>(contender.tensors->batch);
}

/// The contenders take turns, so that a change of the machine's speed meets all alike.
void run_all(std::vector<Contender>& contenders, const BenchArguments& arguments) {
  constexpr int kWarmUp = 3;
  constexpr int kLeast = 5;
  for (Contender& contender : contenders) {
    for (int i = 0; i < kWarmUp; ++i) contender.run(arguments.train);
    contender.seconds.clear();
  }
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < arguments.repeats; ++i) {
    for (Contender& contender : contenders) contender.run(arguments.train);
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (i + 1 >= kLeast && spent > arguments.seconds) break;
  }
}

void report(const std::vector<Contender>& contenders, const BenchArguments& arguments) {
  Table table;
  table.add({"", "median", "quartiles", "a step", "rate", "ratio"});
  const double ours = contenders.front().quantile(0.5);
  for (const Contender& contender : contenders) {
    const double median = contender.quantile(0.5);
    table.add({contender.name, time_text(median),
               fmt::format("{} – {}", time_text(contender.quantile(0.25)), time_text(contender.quantile(0.75))),
               time_text(median / static_cast<double>(std::max<std::int64_t>(arguments.steps, 1))),
               count_text(flops(contender, arguments.train) / median, "flop/s"),
               fmt::format("{:.2f}x", median / ours)});
  }
  const Interface& interface = contenders.front().executable.interface();
  std::string dims;
  for (const auto& [dim, value] : interface.dims) dims += fmt::format(" {}={}", dim, value);
  put(fmt::format("{}{}, batch {}, steps {}, {}, {}, {} threads, {} runs each, interleaved\n", interface.cell, dims,
                  arguments.batch, arguments.steps, arguments.train ? "forward and backward" : "forward",
                  arguments.cell.dtype, contenders.front().executable.threads(), contenders.front().seconds.size()));
  put(table.str());
}

void report_json(const std::vector<Contender>& contenders, const BenchArguments& arguments) {
  const Interface& interface = contenders.front().executable.interface();
  nlohmann::json json = {{"cell", interface.cell},
                         {"dims", interface.dims},
                         {"batch", arguments.batch},
                         {"steps", arguments.steps},
                         {"train", arguments.train},
                         {"dtype", arguments.cell.dtype},
                         {"threads", contenders.front().executable.threads()}};
  for (const Contender& contender : contenders) {
    json["runs"].push_back({{"name", contender.name},
                            {"median_s", contender.quantile(0.5)},
                            {"quartiles_s", {contender.quantile(0.25), contender.quantile(0.75)}},
                            {"fastest_s", contender.quantile(0)},
                            {"runs", contender.seconds.size()},
                            {"flops", flops(contender, arguments.train)},
                            {"ratio", contender.quantile(0.5) / contenders.front().quantile(0.5)}});
  }
  put(json.dump(2) + "\n");
}

void bench(BenchArguments& arguments) {
  const CellTemplate cell = arguments.cell.load();
  CompileOptions options = arguments.cell.options(cell);
  options.training = arguments.train;
  options.inference = !arguments.train;
  std::vector<Contender> contenders;
  std::vector<std::string> names{"cellfuse"};
  names.insert(names.end(), arguments.against.begin(), arguments.against.end());
  for (const std::string& name : names) {
    Contender contender{name, compile(cell, variant(options, name)), nullptr, {}};
    contender.tensors = std::make_shared<CallTensors>(contender.executable, arguments.steps, arguments.batch);
    fill_random(*contender.tensors, 1);
    contenders.push_back(std::move(contender));
  }
  run_all(contenders, arguments);
  if (arguments.cell.json) {
    report_json(contenders, arguments);
  } else {
    report(contenders, arguments);
  }
}

}  // namespace

void add_bench(CLI::App& app, Session& /*session*/) {
  auto* command = app.add_subcommand("bench", "Time a cell on random data");
  command->footer(
      "`unfused` is the same compiler with fusion, hoisting, GEMM combining and layout off: one kernel an operation "
      "and the\n"
      "same GEMM library, the way frameworks run by default.\n"
      "Example:\n  cellfuse bench lstm -D I=256 -D H=256 --batch 32 --steps 64 --train --against unfused");
  auto arguments = std::make_shared<BenchArguments>();
  arguments->cell.add_to(*command);
  command->add_option("--batch", arguments->batch, "Samples")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--steps", arguments->steps, "Steps")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str();
  command->add_flag("--train", arguments->train, "Forward and backward with all gradients; without it, inference");
  command
      ->add_option("--against", arguments->against,
                   "Time this too: unfused, no-fusion, no-hoisting, no-gemm-combining, no-layout")
      ->check(CLI::IsMember({"unfused", "no-fusion", "no-hoisting", "no-gemm-combining", "no-layout"}));
  command->add_option("--repeats", arguments->repeats, "Runs of each")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--seconds", arguments->seconds, "Stop early after this long, with at least 5 runs of each")
      ->capture_default_str();
  command->callback([arguments] { bench(*arguments); });
}

}  // namespace cellfuse::cli
