#include "codegen/cuda/writer.h"

namespace cellfuse::cuda {

namespace {
constexpr std::size_t kColumns = 116;
}

void Writer::line(std::string_view line) {
  if (!line.empty() && line.front() != '#') text_.append(static_cast<std::size_t>(2 * depth_), ' ');
  text_ += line;
  text_ += '\n';
}

void Writer::open(std::string_view head) {
  line(std::string(head) + (head.empty() ? "{" : " {"));
  ++depth_;
}

void Writer::close(std::string_view tail) {
  --depth_;
  line("}" + std::string(tail));
}

void Writer::comment(std::string_view text) {
  const std::size_t indent = text.find_first_not_of(' ');
  std::string current = "// ";
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find(' ', at == 0 ? indent : at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(at, end - at);
    if (at > 0 && current.size() + word.size() + static_cast<std::size_t>(2 * depth_) > kColumns) {
      line(current);
      current = "// " + std::string(indent + 10, ' ');
    } else if (at > 0) {
      current += ' ';
    }
    current += word;
    at = end + 1;
  }
  line(current);
}

}  // namespace cellfuse::cuda
