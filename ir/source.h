#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cellfuse {

/// A text that diagnostics can point into: a `.cell` file, an inline string, or one line of a C++ program.
class Source {
 public:
  /// `name` is shown in front of every message; `first_line` is the number of the text's first line.
  Source(std::string name, std::string text, std::size_t first_line = 1);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }

  struct Position {
    std::size_t line;    ///< counted from 1
    std::size_t column;  ///< counted from 1, in code points
  };
  Position position(std::size_t offset) const;

  /// The line that holds `offset`, without its end-of-line characters.
  std::string_view line_at(std::size_t offset) const;
  /// Offset of the first byte of the line that holds `offset`.
  std::size_t line_begin(std::size_t offset) const;

 private:
  std::size_t line_index(std::size_t offset) const;

  std::string name_;
  std::string text_;
  std::size_t first_line_;
  std::vector<std::size_t> line_starts_;
};

/// A half-open range of bytes `[begin, end)` of a source; without a source where the compiler made the value up.
struct Span {
  std::shared_ptr<const Source> source;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  explicit operator bool() const { return source != nullptr; }
};

}  // namespace cellfuse
