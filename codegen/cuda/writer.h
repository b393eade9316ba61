#pragma once

#include <string>
#include <string_view>

namespace cellfuse::cuda {

/// Lines of code, indented by blocks.
class Writer {
 public:
  /// Takes `line` as it is, without indentation where it is a directive; empty lines stay empty.
  void line(std::string_view line);
  void blank() { text_ += '\n'; }
  /// `head {`, indents what follows.
  void open(std::string_view head);
  /// `}` and `tail`.
  void close(std::string_view tail = {});
  /// `// text`, broken at 116 columns.
  void comment(std::string_view text);
  /// Appends lines as they are.
  void raw(std::string_view lines) { text_ += lines; }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace cellfuse::cuda
