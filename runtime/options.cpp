#include "runtime/options.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

std::string text_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

/// A whole number from 1 to `largest`, or 0 when the variable is not set.
std::int64_t number_of(const char* variable, std::int64_t largest) {
  const std::string text = text_of(variable);
  if (text.empty()) return 0;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > largest) {
    throw UsageError(fmt::format("{}={}: expected a whole number from 1 to {}", variable, text, largest));
  }
  return value;
}

}  // namespace

Environment read_environment() {
  Environment environment;
  environment.threads = static_cast<int>(number_of("CELLFUSE_THREADS", 4096));
  environment.workspace_limit = number_of("CELLFUSE_WORKSPACE_MB", std::int64_t{1} << 30) << 20;
  environment.print_after = text_of("CELLFUSE_PRINT_AFTER");
  environment.reproducer_folder = text_of("CELLFUSE_REPRODUCER");
  environment.no_color = !text_of("NO_COLOR").empty();
  return environment;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

}  // namespace cellfuse
