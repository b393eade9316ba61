#include "frontend/language/language.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "frontend/language/analyzer.h"
#include "frontend/language/parser.h"
#include "frontend/language/reporter.h"

namespace cellfuse {

namespace {

bool has_errors(const std::vector<Diagnostic>& diagnostics) {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

void check_cell_names(const ast::File& file, Reporter& reporter) {
  for (auto cell = file.cells.begin(); cell != file.cells.end(); ++cell) {
    const auto same = [&](const ast::Cell& other) { return other.name.name == cell->name.name; };
    const auto earlier = std::find_if(file.cells.begin(), cell, same);
    if (earlier == cell) continue;
    reporter.error(cell->name.span, "there is already a cell `" + cell->name.name + "`", "",
                   {note(earlier->name.span, "it is defined here")});
  }
}

[[noreturn]] void fail(const std::string& message, const std::string& hint = {}) { throw CompileError(message, hint); }

/// `text` as a number of type T and nothing else.
template <typename T>
std::optional<T> read_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

struct ParsedFile::Content {
  ast::File file;
  std::vector<Diagnostic> diagnostics;  // of the text as such

  Reporter reporter() const {
    Reporter reporter;
    for (const Diagnostic& diagnostic : diagnostics) reporter.report(diagnostic);
    return reporter;
  }
};

ParsedFile::ParsedFile(std::string name, std::string text) {
  const auto source = std::make_shared<const Source>(std::move(name), std::move(text));
  Reporter reporter;
  ast::File file = parse(source, reporter);
  check_cell_names(file, reporter);
  if (file.cells.empty() && !reporter.has_errors()) {
    reporter.error({source, 0, 0}, "there is no cell in this file", "a cell is written `cell NAME(I, H) { ... }`");
  }
  content_ = std::make_shared<const Content>(Content{std::move(file), reporter.take()});
}

ParsedFile::ParsedFile(ast::File file, std::vector<Diagnostic> diagnostics)
    : content_(std::make_shared<const Content>(Content{std::move(file), std::move(diagnostics)})) {}

std::vector<std::string> ParsedFile::cell_names() const {
  std::vector<std::string> names;
  for (const ast::Cell& cell : content_->file.cells) names.push_back(cell.name.name);
  return names;
}

const ast::Cell& ParsedFile::find(const std::string& cell) const {
  const std::vector<ast::Cell>& cells = content_->file.cells;
  if (cells.empty()) {
    if (has_errors(content_->diagnostics)) throw CompileError(content_->diagnostics);
    fail("there is no cell in this file");
  }
  std::string names;
  for (const ast::Cell& candidate : cells) {
    if (candidate.name.name == cell) return candidate;
    names += (names.empty() ? "`" : ", `") + candidate.name.name + "`";
  }
  if (!cell.empty()) {
    const std::string guess = did_you_mean(cell, cell_names());
    fail("there is no cell `" + cell + "` in this file", guess.empty() ? "it has " + names : guess);
  }
  if (cells.size() > 1) fail("this file has several cells, name one of them", "it has " + names);
  return cells.front();
}

std::vector<Diagnostic> ParsedFile::check() const {
  Reporter reporter = content_->reporter();
  const Binding unbound;
  std::int64_t work = 0;
  for (const ast::Cell& cell : content_->file.cells) {
    Analyzer analyzer(content_->file, cell, unbound, reporter, nullptr);
    analyzer.charge(work);
    analyzer.run();
    work = analyzer.work();
    if (work > kMaxOperations) break;
  }
  return reporter.take();
}

std::vector<Diagnostic> ParsedFile::check(const std::string& cell, const Binding& binding) const {
  const ast::Cell& found = find(cell);
  Reporter reporter = content_->reporter();
  Analyzer(content_->file, found, binding, reporter, nullptr).run();
  return reporter.take();
}

CellInfo ParsedFile::info(const std::string& cell) const {
  const ast::Cell& found = find(cell);
  Reporter unused;
  const Binding unbound;
  return Analyzer(content_->file, found, unbound, unused, nullptr).info();
}

Binding ParsedFile::read_binding(const std::string& cell, const std::vector<std::string>& assignments) const {
  const CellInfo known = info(cell);
  std::vector<std::string> names;
  for (const CellInfo::Dimension& dim : known.dims) names.push_back(dim.name);
  const std::size_t dim_count = names.size();
  for (const CellInfo::Constant& constant : known.constants) names.push_back(constant.name);
  Binding binding;
  for (const std::string& assignment : assignments) {
    const std::size_t equal = assignment.find('=');
    if (equal == std::string::npos) fail("`" + assignment + "` gives no value", "write `NAME=VALUE`");
    const std::string name = assignment.substr(0, equal);
    const std::string value = assignment.substr(equal + 1);
    const auto position = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (position == names.size()) {
      std::string hint = did_you_mean(name, names);
      if (hint.empty()) {
        for (const std::string& other : names) hint += (hint.empty() ? "it has `" : ", `") + other + "`";
      }
      fail("the cell `" + known.name + "` has no dimension or constant `" + name + "`", hint);
    }
    if (position < dim_count) {
      const std::optional<std::int64_t> whole = read_number<std::int64_t>(value);
      if (!whole) fail("the dimension `" + name + "` cannot be `" + value + "`", "a dimension is a whole number");
      binding.dims[name] = *whole;
    } else {
      const std::optional<double> number = read_number<double>(value);
      if (!number || !std::isfinite(*number)) fail("the constant `" + name + "` cannot be `" + value + "`");
      binding.constants[name] = *number;
    }
  }
  return binding;
}

Cell ParsedFile::build(const std::string& cell, const Binding& binding, std::vector<Diagnostic>* warnings) const {
  const ast::Cell& found = find(cell);
  Reporter reporter = content_->reporter();
  Cell built;
  // A text that could not be read is still checked, so that everything wrong is told at once.
  const bool broken = reporter.has_errors();
  Analyzer(content_->file, found, binding, reporter, broken ? nullptr : &built).run();
  std::vector<Diagnostic> diagnostics = reporter.take();
  if (has_errors(diagnostics)) {
    std::erase_if(diagnostics, [](const Diagnostic& d) { return d.severity != Severity::Error; });
    throw CompileError(std::move(diagnostics));
  }
  if (warnings != nullptr) warnings->insert(warnings->end(), diagnostics.begin(), diagnostics.end());
  return built;
}

ParsedFile read_cell_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  if (stream) {
    // One byte past the limit is enough to see that a file is too large.
    text.resize(kMaxSourceBytes + 1);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad() || (!stream && text.empty() && !stream.eof())) {
    fail("cannot read `" + path + "`: " + std::strerror(errno));
  }
  return {path, std::move(text)};
}

}  // namespace cellfuse
