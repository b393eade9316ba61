#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/diagnostic.h"

namespace cellfuse {

/// Gathers diagnostics. The same message about the same place is kept once, and only the first `kMaxErrors` errors and
/// as many warnings are kept.
class Reporter {
 public:
  static constexpr std::size_t kMaxErrors = 50;

  void report(Diagnostic diagnostic);
  void error(const Span& span, std::string message, std::string hint = {}, std::vector<Diagnostic> notes = {});
  void warning(const Span& span, std::string message, std::string hint = {}, std::vector<Diagnostic> notes = {});

  bool has_errors() const { return errors_ > 0; }
  /// True when further errors would be dropped: time to stop looking.
  bool full() const { return errors_ >= kMaxErrors; }

  /// While muted nothing is kept. Returns what was set before.
  bool mute(bool on) { return std::exchange(muted_, on); }

  /// What was gathered, in the order of the text. The reporter is empty afterwards.
  std::vector<Diagnostic> take();

 private:
  std::vector<Diagnostic> diagnostics_;
  std::set<std::tuple<const Source*, std::uint32_t, std::string>> seen_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  bool muted_ = false;
};

/// A note to hang under a diagnostic.
Diagnostic note(const Span& span, std::string message);

/// The name among `candidates` that is most like `name`, or empty when none is close.
std::string closest_name(const std::string& name, const std::vector<std::string>& candidates);
/// "did you mean `sigmoid`?", or empty.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace cellfuse
