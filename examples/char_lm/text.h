#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// A text as numbers: each different byte is a symbol, its number the place in the alphabet.
struct Text {
  std::string alphabet;                  ///< the bytes that occur, ascending
  std::vector<std::int32_t> train;       ///< symbols of the first part
  std::vector<std::int32_t> validation;  ///< symbols of the rest

  std::int64_t symbols() const { return static_cast<std::int64_t>(alphabet.size()); }
  std::string decode(std::span<const std::int32_t> text) const;
  /// Throws std::runtime_error for a byte that is not in the alphabet.
  std::vector<std::int32_t> encode(const std::string& text) const;
};

/// Reads a file and keeps the last `validation_share` of it for validation. Throws std::runtime_error.
Text read_text(const std::string& path, double validation_share);

/// A text cut into `batch` streams of equal length that are read side by side; the rest at the end is left out.
class Streams {
 public:
  /// Throws std::runtime_error when the text is too short for that many streams.
  Streams(std::span<const std::int32_t> text, std::int64_t batch);

  std::int64_t batch() const { return batch_; }
  std::int64_t steps() const { return steps_; }  ///< of each stream
  std::int32_t input(std::int64_t step, std::int64_t stream) const { return at(step, stream); }
  std::int32_t target(std::int64_t step, std::int64_t stream) const { return at(step + 1, stream); }

 private:
  std::int32_t at(std::int64_t step, std::int64_t stream) const {
    return text_[static_cast<std::size_t>(stream * steps_ + step)];
  }

  std::span<const std::int32_t> text_;
  std::int64_t batch_;
  std::int64_t steps_;
};

/// Bits per symbol on `validation` of the model that knows the last symbol only, counted on text.train with add-one
/// smoothing.
double bigram_bits(const Text& text, const Streams& validation);
