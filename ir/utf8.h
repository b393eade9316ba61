#pragma once

#include <cstddef>
#include <string_view>

namespace cellfuse {

/// Bytes of the well-formed UTF-8 sequence at `at` (1 to 4), or 0 when there is none: a stray or missing continuation,
/// an overlong form, a surrogate, a value beyond U+10FFFF, the end of the text.
std::size_t utf8_length(std::string_view text, std::size_t at);

/// True when the bytes at `at` encode half of a UTF-16 pair, which UTF-8 does not allow.
bool is_utf8_surrogate(std::string_view text, std::size_t at);

}  // namespace cellfuse
