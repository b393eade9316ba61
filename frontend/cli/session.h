#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace cellfuse::cli {

/// What the subcommands share in one run of the command.
struct Session {
  std::string color = "auto";  ///< `--color`
  int exit_code = 0;

  bool color_on_stderr() const;
  bool color_on_stdout() const;
};

/// All went well; the cell or the check failed; the command was used wrongly or could not do its work.
inline constexpr int kGood = 0;
inline constexpr int kFailed = 1;
inline constexpr int kTrouble = 2;

// One function a subcommand, each in a file of its own: adds it to the command.
void add_check(CLI::App& app, Session& session);
void add_show(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_gradcheck(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_list(CLI::App& app, Session& session);
void add_new(CLI::App& app, Session& session);
void add_version(CLI::App& app, Session& session);

/// Writes to stdout.
void put(const std::string& text);

}  // namespace cellfuse::cli
