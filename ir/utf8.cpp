#include "ir/utf8.h"

namespace cellfuse {

namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

/// Length that the first byte announces, or 0.
std::size_t announced_length(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead >= 0xF5) return 0;
  return lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4);
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  const unsigned lead = byte_at(text, at);
  const std::size_t length = announced_length(lead);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte_at(text, at + 1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool beyond = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
  return overlong || beyond ? 0 : length;
}

bool is_utf8_surrogate(std::string_view text, std::size_t at) {
  return byte_at(text, at) == 0xED && (byte_at(text, at + 1) & 0xE0U) == 0xA0U &&
         (byte_at(text, at + 2) & 0xC0U) == 0x80U;
}

}  // namespace cellfuse
