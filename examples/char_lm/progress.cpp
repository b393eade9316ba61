#include "examples/char_lm/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace {

constexpr int kBarWidth = 30;
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress() : terminal_(isatty(STDOUT_FILENO) == 1), start_(Clock::now()) {}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

void Progress::show(double share, std::int64_t epoch, double bits) {
  const double now = seconds();
  if (now - shown_at_ < (terminal_ ? 0.2 : 10)) return;
  shown_at_ = now;
  share = std::min(share, 1.0);
  const std::string text = fmt::format("{:3.0f} %  epoch {}  {:.3f} bits/character  {:.0f} tokens/s", 100 * share,
                                       epoch + 1, bits, symbols_per_second());
  if (terminal_) {
    const auto done = static_cast<std::size_t>(share * kBarWidth);
    fmt::print("{}{}{} {}", kClearLine, std::string(done, '#'), std::string(kBarWidth - done, '.'), text);
    bar_shown_ = true;
  } else {
    fmt::print("{}\n", text);
  }
  std::fflush(stdout);
}

void Progress::line(const std::string& text) {
  fmt::print("{}{}\n", bar_shown_ ? kClearLine : "", text);
  std::fflush(stdout);
  bar_shown_ = false;
}
