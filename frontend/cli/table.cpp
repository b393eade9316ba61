#include "frontend/cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellfuse::cli {

namespace {

/// Code points, which is what a terminal shows of the text we write.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Three significant digits.
std::string short_number(double value) {
  return value < 99.95 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

}  // namespace

std::string Table::str(const std::string& indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width(row[i]), ' ');
      line += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 4> kUnits = {"bytes", "KB", "MB", "GB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", short_number(bytes), kUnits[unit]);
}

std::string time_text(double seconds) {
  if (seconds < 1e-6) return short_number(seconds * 1e9) + " ns";
  if (seconds < 1e-3) return short_number(seconds * 1e6) + " us";
  if (seconds < 1) return short_number(seconds * 1e3) + " ms";
  return short_number(seconds) + " s";
}

std::string count_text(double count, const std::string& unit) {
  constexpr std::array<const char*, 4> kPrefixes = {"", "k", "M", "G"};
  std::size_t prefix = 0;
  while (count >= 1000 && prefix + 1 < kPrefixes.size()) {
    count /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", short_number(count), kPrefixes[prefix], unit);
}

}  // namespace cellfuse::cli
