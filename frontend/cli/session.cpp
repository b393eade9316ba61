#include "frontend/cli/session.h"

#include <unistd.h>

#include <cstdio>

#include "runtime/options.h"

namespace cellfuse::cli {

namespace {

bool colored(const std::string& policy, int descriptor) {
  if (policy != "auto") return policy == "always";
  return isatty(descriptor) != 0 && !read_environment().no_color;
}

}  // namespace

bool Session::color_on_stderr() const { return colored(color, STDERR_FILENO); }
bool Session::color_on_stdout() const { return colored(color, STDOUT_FILENO); }

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace cellfuse::cli
