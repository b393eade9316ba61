#include "ir/source.h"

#include <algorithm>
#include <utility>

namespace cellfuse {

Source::Source(std::string name, std::string text, std::size_t first_line)
    : name_(std::move(name)), text_(std::move(text)), first_line_(first_line), line_starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

std::size_t Source::line_index(std::size_t offset) const {
  auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<std::size_t>(after - line_starts_.begin()) - 1;
}

Source::Position Source::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  std::size_t line = line_index(offset);
  std::size_t column = 1;
  for (std::size_t i = line_starts_[line]; i < offset; ++i) {
    bool continuation = (static_cast<unsigned char>(text_[i]) & 0xC0U) == 0x80U;
    if (!continuation) ++column;
  }
  return {first_line_ + line, column};
}

std::size_t Source::line_begin(std::size_t offset) const {
  return line_starts_[line_index(std::min(offset, text_.size()))];
}

std::string_view Source::line_at(std::size_t offset) const {
  std::size_t begin = line_begin(offset);
  std::size_t end = text_.find('\n', begin);
  if (end == std::string::npos) end = text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace cellfuse
