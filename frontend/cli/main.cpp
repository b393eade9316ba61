// The command `cellfuse`.
#include <cstdio>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "frontend/cli/session.h"
#include "ir/diagnostic.h"

namespace cellfuse::cli {

namespace {

constexpr const char* kDescription =
    "cellfuse compiles a recurrent cell, written as the equations of one time step, into a fused program for whole\n"
    "batches of whole sequences, forward and backward.";

constexpr const char* kFooter =
    "Examples:\n"
    "  cellfuse new my_cell > my_cell.cell            start from a commented template\n"
    "  cellfuse check my_cell.cell                    is it right?\n"
    "  cellfuse explain lstm -D I=128 -D H=256        what the compiler makes of a built-in cell, and why\n"
    "  cellfuse gradcheck my_cell.cell -D I=3 -D H=4  gradients against finite differences\n"
    "  cellfuse bench lstm -D I=256 -D H=256 --batch 32 --steps 64 --train --against unfused\n"
    "\n"
    "A cell is a FILE, FILE:CELL where a file has several, `-` for stdin, or the name of a built-in cell (`cellfuse "
    "list`).\n"
    "Exit codes: 0 all good; 1 the cell is wrong or a check failed; 2 wrong usage, or the command could not do its "
    "work.";

void print_error(const char* kind, const std::string& message) {
  fmt::print(stderr, "cellfuse: {}{}\n", kind, message);
}

int run(int argc, char** argv) {
  Session session;
  CLI::App app(kDescription, "cellfuse");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.add_option("--color", session.color, "Colours: auto (on a terminal), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.set_version_flag("--version", CELLFUSE_VERSION);
  for (const auto add :
       {add_check, add_show, add_explain, add_verify, add_gradcheck, add_bench, add_list, add_new, add_version}) {
    add(app, session);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kGood : kTrouble;
  } catch (const CompileError& error) {
    fmt::print(stderr, "{}", render(error.diagnostics(), session.color_on_stderr()));
    return kFailed;
  } catch (const InternalError& error) {
    print_error("a bug of cellfuse: ", error.what());
    return kTrouble;
  } catch (const std::bad_alloc&) {
    print_error("", "out of memory");
    return kTrouble;
  } catch (const std::exception& error) {
    print_error("", error.what());
    return kTrouble;
  }
  if (std::fflush(stdout) != 0) {
    print_error("", "writing the output failed");
    return kTrouble;
  }
  return session.exit_code;
}

}  // namespace

}  // namespace cellfuse::cli

int main(int argc, char** argv) { return cellfuse::cli::run(argc, argv); }
