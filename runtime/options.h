#pragma once

#include <cstdint>
#include <string>

namespace cellfuse {

/// What the environment says. Read where an option was not given; each variable has an option of the API and a flag of
/// the command.
struct Environment {
  int threads = 0;                   ///< CELLFUSE_THREADS, `--threads`; 0: not set
  std::int64_t workspace_limit = 0;  ///< CELLFUSE_WORKSPACE_MB, `--workspace`, in bytes; 0: not set
  std::string print_after;           ///< CELLFUSE_PRINT_AFTER, `--print-after`: passes, separated by commas
  std::string reproducer_folder;     ///< CELLFUSE_REPRODUCER, `--reproducer`
  bool no_color = false;             ///< NO_COLOR, `--color=never`
};

/// Throws UsageError that names the variable when one does not hold what it should.
Environment read_environment();

/// Cores this process may use.
int usable_cores();

}  // namespace cellfuse
