#include "frontend/language/reporter.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace cellfuse {

namespace {

constexpr std::size_t kLongestName = 48;
constexpr std::size_t kMostCandidates = 2000;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`; both are short.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

}  // namespace

void Reporter::report(Diagnostic diagnostic) {
  if (muted_) return;
  std::size_t& count = diagnostic.severity == Severity::Error ? errors_ : warnings_;
  if (count >= kMaxErrors) return;
  if (!seen_.emplace(diagnostic.span.source.get(), diagnostic.span.begin, diagnostic.message).second) return;
  ++count;
  diagnostics_.push_back(std::move(diagnostic));
}

void Reporter::error(const Span& span, std::string message, std::string hint, std::vector<Diagnostic> notes) {
  report({Severity::Error, std::move(message), span, std::move(hint), std::move(notes)});
}

void Reporter::warning(const Span& span, std::string message, std::string hint, std::vector<Diagnostic> notes) {
  report({Severity::Warning, std::move(message), span, std::move(hint), std::move(notes)});
}

std::vector<Diagnostic> Reporter::take() {
  // Only diagnostics of one text have an order; those of C++ lines stay as they came.
  const auto differs = [&](const Diagnostic& d) { return d.span.source != diagnostics_.front().span.source; };
  if (std::ranges::none_of(diagnostics_, differs)) {
    std::ranges::stable_sort(diagnostics_, {}, [](const Diagnostic& d) { return d.span.begin; });
  }
  if (full()) {
    diagnostics_.push_back({Severity::Error, "too many errors: the rest is left out", {}, {}, {}});
  }
  seen_.clear();
  errors_ = warnings_ = 0;
  return std::exchange(diagnostics_, {});
}

Diagnostic note(const Span& span, std::string message) { return {Severity::Note, std::move(message), span, {}, {}}; }

std::string closest_name(const std::string& name, const std::vector<std::string>& candidates) {
  if (name.size() > kLongestName || candidates.size() > kMostCandidates) return {};
  const std::string wanted = lower(name);
  std::string best;
  // A third of the letters may be wrong; a one-letter name is like nothing but its other case.
  std::size_t least = wanted.size() < 2 ? 1 : std::max<std::size_t>(2, wanted.size() / 3 + 1);
  for (const std::string& candidate : candidates) {
    if (candidate == name || candidate.size() > wanted.size() + least || wanted.size() > candidate.size() + least)
      continue;
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (distance < least && distance < std::max(wanted.size(), candidate.size())) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string best = closest_name(name, candidates);
  return best.empty() ? std::string() : "did you mean `" + best + "`?";
}

}  // namespace cellfuse
