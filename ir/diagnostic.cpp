#include "ir/diagnostic.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "ir/utf8.h"

namespace cellfuse {

namespace {

constexpr std::size_t kTabWidth = 4;
constexpr std::size_t kMaxColumns = 120;

/// Text made fit for a terminal: each piece is one code point of the original, some columns wide.
struct Printable {
  std::string text;
  std::vector<std::size_t> column_of_byte;  // of the original; one more entry for the end
};

/// Tabs become blanks, control characters and broken UTF-8 become `<XX>`.
Printable printable(std::string_view line) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  Printable result;
  std::size_t column = 0;
  auto put = [&](std::string_view piece, std::size_t bytes, std::size_t width) {
    result.column_of_byte.insert(result.column_of_byte.end(), bytes, column);
    result.text += piece;
    column += width;
  };
  for (std::size_t at = 0; at < line.size();) {
    const auto byte = static_cast<unsigned char>(line[at]);
    const std::size_t length = utf8_length(line, at);
    if (byte == '\t') {
      const std::size_t width = kTabWidth - column % kTabWidth;
      put(std::string(width, ' '), 1, width);
    } else if (length == 0 || (byte < 0x20 && byte != '\n') || byte == 0x7F ||
               (byte == 0xC2 && static_cast<unsigned char>(line[at + 1]) < 0xA0)) {
      for (std::size_t i = 0; i < std::max<std::size_t>(length, 1); ++i) {
        const auto bad = static_cast<unsigned char>(line[at + i]);
        put(std::string{'<', kHex[bad >> 4U], kHex[bad & 15U], '>'}, 1, 4);
      }
    } else {
      put(line.substr(at, length), length, 1);
    }
    at += std::max<std::size_t>(length, 1);
  }
  result.column_of_byte.push_back(column);
  return result;
}

struct Style {
  bool color;
  std::string operator()(std::string_view code, std::string_view text) const {
    if (!color) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
};

/// At most kMaxColumns code points of a line, with the marked part in view.
void clip(std::string& text, std::string& marks, std::size_t first_mark) {
  auto columns = [](std::string_view piece) {
    return static_cast<std::size_t>(
        std::ranges::count_if(piece, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  };
  const std::size_t total = columns(text);
  if (total <= kMaxColumns) return;
  const std::size_t begin = first_mark < kMaxColumns / 2 ? 0 : first_mark - kMaxColumns / 4;
  const std::size_t end = std::min(total, begin + kMaxColumns);
  std::string kept = begin > 0 ? "..." : "";
  std::size_t column = 0;
  for (char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    const std::size_t index = starts ? column++ : column - 1;
    if (index >= begin && index < end) kept += c;
  }
  if (end < total) kept += "...";
  text = kept;
  marks = std::string(begin > 0 ? 3 : 0, ' ') + marks.substr(begin, kMaxColumns);
}

std::string excerpt(const Span& span, const Style& style) {
  const std::string_view line = span.source->line_at(span.begin);
  if (line.find_first_not_of(" \t") == std::string_view::npos) return {};
  const std::size_t line_begin = span.source->line_begin(span.begin);
  const std::size_t first = std::min<std::size_t>(span.begin - line_begin, line.size());
  const std::size_t last =
      std::clamp<std::size_t>(span.end > line_begin ? span.end - line_begin : 0, first, line.size());
  Printable shown = printable(line);
  const std::size_t first_column = shown.column_of_byte[first];
  const std::size_t width = std::max<std::size_t>(shown.column_of_byte[last] - first_column, 1);
  std::string marks = std::string(first_column, ' ') + '^' + std::string(width - 1, '~');
  clip(shown.text, marks, first_column);
  return "  " + shown.text + "\n  " + style("1;32", marks) + "\n";
}

void render_to(std::string& out, const Diagnostic& diagnostic, const Style& style) {
  struct Label {
    std::string_view text;
    std::string_view color;
  };
  constexpr std::array<Label, 3> kLabels{{{"note: ", "1;36"}, {"warning: ", "1;35"}, {"error: ", "1;31"}}};
  const Label& label = kLabels[static_cast<std::size_t>(diagnostic.severity)];
  if (diagnostic.span) {
    const Source::Position at = diagnostic.span.source->position(diagnostic.span.begin);
    out += style("1", printable(diagnostic.span.source->name()).text + ":" + std::to_string(at.line) + ":" +
                          std::to_string(at.column) + ": ");
  }
  out += style(label.color, label.text) + style("1", printable(diagnostic.message).text) + "\n";
  if (diagnostic.span) out += excerpt(diagnostic.span, style);
  if (!diagnostic.hint.empty()) out += style("1;34", "hint: ") + printable(diagnostic.hint).text + "\n";
  for (const Diagnostic& note : diagnostic.notes) render_to(out, note, style);
}

}  // namespace

std::string render(const Diagnostic& diagnostic, bool color) { return render(std::vector{diagnostic}, color); }

std::string render(const std::vector<Diagnostic>& diagnostics, bool color) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) render_to(out, diagnostic, Style{color});
  return out;
}

CompileError::CompileError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(render(diagnostics)), diagnostics_(std::move(diagnostics)) {}

CompileError::CompileError(std::string message, std::string hint)
    : CompileError(std::vector{Diagnostic{Severity::Error, std::move(message), {}, std::move(hint), {}}}) {}

InternalError::InternalError(std::string where, const std::string& what)
    : std::logic_error("internal error in " + where + ": " + what), where_(std::move(where)) {}

void check_internal(bool condition, const char* where, const char* what) {
  if (!condition) throw InternalError(where, what);
}

}  // namespace cellfuse
