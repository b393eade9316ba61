#include "examples/char_lm/text.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>

std::string Text::decode(std::span<const std::int32_t> text) const {
  std::string decoded;
  for (const std::int32_t symbol : text) decoded += alphabet[static_cast<std::size_t>(symbol)];
  return decoded;
}

std::vector<std::int32_t> Text::encode(const std::string& text) const {
  std::vector<std::int32_t> encoded;
  for (const char byte : text) {
    const std::size_t symbol = alphabet.find(byte);
    if (symbol == std::string::npos) throw std::runtime_error(std::string("no '") + byte + "' in the text");
    encoded.push_back(static_cast<std::int32_t>(symbol));
  }
  return encoded;
}

Text read_text(const std::string& path, double validation_share) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) throw std::runtime_error("cannot read " + path);

  Text text;
  text.alphabet = bytes;
  std::sort(text.alphabet.begin(), text.alphabet.end());
  text.alphabet.erase(std::unique(text.alphabet.begin(), text.alphabet.end()), text.alphabet.end());
  text.train = text.encode(bytes);
  const auto split = static_cast<std::ptrdiff_t>(static_cast<double>(bytes.size()) * (1 - validation_share));
  text.validation.assign(text.train.begin() + split, text.train.end());
  text.train.erase(text.train.begin() + split, text.train.end());
  return text;
}

Streams::Streams(std::span<const std::int32_t> text, std::int64_t batch)
    : text_(text), batch_(batch), steps_((static_cast<std::int64_t>(text.size()) - 1) / batch) {
  if (steps_ < 1) throw std::runtime_error("the text is too short for " + std::to_string(batch) + " streams");
}

double bigram_bits(const Text& text, const Streams& validation) {
  const std::size_t symbols = text.alphabet.size();
  std::vector<double> pairs(symbols * symbols, 1.0);
  std::vector<double> firsts(symbols, static_cast<double>(symbols));
  for (std::size_t i = 0; i + 1 < text.train.size(); ++i) {
    const auto first = static_cast<std::size_t>(text.train[i]);
    pairs[first * symbols + static_cast<std::size_t>(text.train[i + 1])] += 1;
    firsts[first] += 1;
  }
  double bits = 0;
  for (std::int64_t stream = 0; stream < validation.batch(); ++stream) {
    for (std::int64_t step = 0; step < validation.steps(); ++step) {
      const auto first = static_cast<std::size_t>(validation.input(step, stream));
      const auto second = static_cast<std::size_t>(validation.target(step, stream));
      bits -= std::log2(pairs[first * symbols + second] / firsts[first]);
    }
  }
  return bits / static_cast<double>(validation.batch() * validation.steps());
}
