#pragma once

#include <array>
#include <cstdint>

namespace cellfuse {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// The counter-based generator Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
/// 2, 3", SC 2011, section 3.3.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

/// Stands for the step or the sample of a draw that all steps or all samples share.
inline constexpr std::uint32_t kSharedDraw = 0xFFFFFFFFU;

/// Which draw of which call: what a random value of a cell is a function of, beside the number of the element.
struct DrawAddress {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::uint32_t step = kSharedDraw;
  std::uint32_t sample = kSharedDraw;
  std::uint32_t site = 0;  ///< number of the call in the cell, below 2^10
  std::uint32_t layer = 0;
  std::uint32_t direction = 0;
};

/// Element `element` of a draw: uniform in [0, 1), a multiple of 2^-24.
constexpr double uniform24(const DrawAddress& address, std::uint32_t element) {
  const std::uint64_t key = address.seed + address.offset * 0x9E3779B97F4A7C15ULL;
  const std::uint32_t place = address.site + (address.layer << 10U) + (address.direction << 20U);
  const PhiloxCounter block = philox4x32({element / 4, address.step, address.sample, place},
                                         {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U)});
  return static_cast<double>(block[element % 4] >> 8U) * 0x1p-24;
}

}  // namespace cellfuse
