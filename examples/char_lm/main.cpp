// Trains a character language model on a text file with any recurrent cell, then writes some text of its own.

#include <cellfuse/cellfuse.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "examples/char_lm/trainer.h"

namespace {

struct Options {
  std::string text;
  std::string cell = CELLFUSE_EXAMPLE_FOLDER "/highway_lstm.cell";
  std::vector<std::string> defines{};
  std::vector<std::string> starts{};
  std::string dtype = "float32";
  std::string memory = "balanced";
  double validation = 0.1;
  bool resume = false;
  std::int64_t sample = 400;
  std::string prompt = "And ";
  double temperature = 0.7;
  ModelOptions model{};
  TrainingOptions training{};
};

volatile std::sig_atomic_t interrupted = 0;

void declare_model(CLI::App& app, Options& options) {
  cellfuse::CompileOptions& compile = options.model.compile;
  app.add_option("--cell", options.cell, "FILE.cell, FILE.cell:NAME, or the name of a ready cell");
  app.add_option("-D,--define", options.defines, "NAME=VALUE: a dimension or constant of the cell; else I=64, H=256");
  app.add_option("--start", options.starts, "NAME=VALUE: where all elements of a parameter of the cell start");
  app.add_option("--dtype", options.dtype, "dtype of the cell")
      ->check(CLI::IsMember({"float32", "float64", "bfloat16", "float16"}));
  app.add_option("--memory", options.memory, "what backward may recompute to save memory")
      ->check(CLI::IsMember({"fast", "balanced", "small"}));
  app.add_option("--device", compile.device, "where to run");
  app.add_option("--threads", compile.threads, "0: one for each core")->check(CLI::NonNegativeNumber);
  app.add_option("--seed", options.model.seed, "of starting values, random masks and the sample");
}

void declare_training(CLI::App& app, Options& options) {
  TrainingOptions& training = options.training;
  app.add_option("--text", options.text, "file to learn from")->required()->check(CLI::ExistingFile);
  app.add_option("--batch", options.model.batch, "streams read side by side")->check(CLI::PositiveNumber);
  app.add_option("--steps", options.model.steps, "steps that gradients go back")->check(CLI::PositiveNumber);
  app.add_option("--epochs", training.epochs, "stop after so many passes over the text")->check(CLI::PositiveNumber);
  app.add_option("--updates", training.updates, "stop after so many updates")->check(CLI::PositiveNumber);
  app.add_option("--minutes", training.minutes, "stop after this time")->check(CLI::PositiveNumber);
  app.add_option("--rate", training.rate, "learning rate of Adam")->check(CLI::PositiveNumber);
  app.add_option("--decay", training.decay, "of the rate from epoch to epoch")->check(CLI::PositiveNumber);
  app.add_option("--clip", training.clip, "largest norm of the gradient")->check(CLI::PositiveNumber);
  app.add_option("--validation", options.validation, "share of the text to test on")->check(CLI::Range(0.01, 0.5));
  CLI::Option* checkpoint =
      app.add_option("--checkpoint", training.checkpoint, "file to save to after each epoch and at the end");
  app.add_flag("--resume", options.resume, "go on from the checkpoint")->needs(checkpoint);
}

void declare_sample(CLI::App& app, Options& options) {
  app.add_option("--sample", options.sample, "characters to write at the end")->check(CLI::NonNegativeNumber);
  app.add_option("--prompt", options.prompt, "how they begin; not empty");
  app.add_option("--temperature", options.temperature, "below 1: the likely more often")->check(CLI::PositiveNumber);
}

/// Reads FILE.cell, FILE.cell:NAME, or the name of a ready cell.
cellfuse::CellTemplate read_cell(const std::string& argument) {
  const std::size_t end_of_path = argument.rfind(".cell");
  if (end_of_path == std::string::npos) return cellfuse::builtin_cell(argument);
  const std::size_t colon = argument.find(':', end_of_path);
  return cellfuse::cell_from_file(argument.substr(0, colon),
                                  colon == std::string::npos ? "" : argument.substr(colon + 1));
}

/// Splits NAME=VALUE.
std::pair<std::string, double> assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  double value = 0;
  if (equals == std::string::npos || !CLI::detail::lexical_cast(text.substr(equals + 1), value)) {
    throw std::runtime_error("not NAME=VALUE: " + text);
  }
  return {text.substr(0, equals), value};
}

void set_compile_options(const cellfuse::CellTemplate& cell, Options& options) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  cellfuse::CompileOptions& compile = options.model.compile;
  compile.dims = cell.default_dims;
  for (const auto& [name, size] : {std::pair("I", 64), std::pair("H", 256)}) {
    if (has(cell.dims, name)) compile.dims.try_emplace(name, size);
  }
  for (const std::string& text : options.defines) {
    const auto [name, value] = assignment(text);
    if (has(cell.constants, name)) {
      compile.constants[name] = value;
    } else {
      compile.dims[name] = static_cast<std::int64_t>(value);
    }
  }
  for (const std::string& text : options.starts) options.model.start.insert(assignment(text));
  compile.dtype = *cellfuse::dtype_from_name(options.dtype);
  compile.memory = *cellfuse::memory_mode_from_name(options.memory);
}

/// What makes a training what it is, beside the learning rate.
std::string settings(const Options& options, const Model& model, const Text& text) {
  const cellfuse::Executable& cell = model.cell();
  return fmt::format("{}\n{}, {} threads, memory {}\n{} streams, {} steps, seed {}\n{} of {} bytes for training\n",
                     cell.text(cellfuse::ProgramKind::Forward, cellfuse::Picture::Cell), options.dtype, cell.threads(),
                     options.memory, options.model.batch, options.model.steps, options.model.seed, text.train.size(),
                     text.train.size() + text.validation.size());
}

void describe(Model& model, const Options& options, const Text& text) {
  const cellfuse::Executable& cell = model.cell();
  std::string dims;
  for (const auto& [name, size] : cell.interface().dims) dims += fmt::format(" {} = {},", name, size);
  std::size_t count = 0;
  for (const Parameter* parameter : model.parameters()) count += parameter->value.size();
  const auto memory = cell.memory(options.model.steps, options.model.batch, true).total();
  fmt::print("cell {}:{} {}, {} threads; training a chunk takes {:.1f} MB beside the tensors\n", cell.interface().cell,
             dims, options.dtype, cell.threads(), static_cast<double>(memory) / 1e6);
  fmt::print("{} parameters; {} + {} characters, {} different ones\n", count, text.train.size(), text.validation.size(),
             text.alphabet.size());
}

void print_sample(Model& model, const Options& options, const Text& text) {
  std::mt19937_64 random(options.model.seed);
  const std::vector<std::int32_t> sample =
      model.generate(text.encode(options.prompt), options.sample, options.temperature, random);
  fmt::print("\n{}\n", text.decode(sample));
}

void run(Options& options) {
  const Text text = read_text(options.text, options.validation);
  if (options.prompt.empty()) throw std::runtime_error("--prompt: at least one character");
  const cellfuse::CellTemplate cell = read_cell(options.cell);
  set_compile_options(cell, options);
  options.model.symbols = text.symbols();
  Model model(cell, options.model);
  describe(model, options, text);

  Trainer trainer(model, text, options.model, options.training, settings(options, model, text));
  if (options.resume) trainer.resume();
  std::signal(SIGINT, [](int) { interrupted = 1; });
  trainer.run(interrupted);
  if (options.sample > 0) print_sample(model, options, text);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a character language model with a recurrent cell.");
  Options options;
  app.option_defaults()->always_capture_default();
  declare_training(app, options);
  declare_model(app, options);
  declare_sample(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "char_lm: {}\n", error.what());
    return 1;
  }
}
