#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/plan.h"

namespace cellfuse::emulation {

/// One element of a buffer in memory.
double read_element(const Buffer& buffer, const std::byte* at);
void write_element(const Buffer& buffer, std::byte* at, double value);
std::int64_t element_bytes(const Buffer& buffer);

/// `value` as an element of this type keeps it.
double rounded(double value, DType dtype);

/// Memory of a GPU: begins at a multiple of 256 bytes, is full of NaN at first.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::int64_t bytes);
  std::byte* data() { return begin_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::vector<std::byte> memory_;
  std::byte* begin_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace cellfuse::emulation
