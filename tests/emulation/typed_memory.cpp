#include "tests/emulation/typed_memory.h"

#include <cstring>

#include "ir/diagnostic.h"
#include "tests/emulation/half.h"

namespace cellfuse::emulation {

namespace {

template <typename T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void set(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

bool is_byte(const Buffer& buffer) { return buffer.space == Space::Live || buffer.space == Space::Reset; }

}  // namespace

std::int64_t element_bytes(const Buffer& buffer) {
  if (is_byte(buffer)) return 1;
  if (buffer.space == Space::StepIndex) return 4;
  return static_cast<std::int64_t>(info(buffer.dtype).bytes);
}

double read_element(const Buffer& buffer, const std::byte* at) {
  switch (buffer.dtype) {
    case DType::Float16: return half_to_float(get<std::uint16_t>(at));
    case DType::BFloat16: return bfloat16_to_float(get<std::uint16_t>(at));
    case DType::Float32: return get<float>(at);
    case DType::Float64: return get<double>(at);
  }
  throw InternalError("emulation", "unknown dtype");
}

void write_element(const Buffer& buffer, std::byte* at, double value) {
  if (is_byte(buffer)) return set(at, static_cast<std::uint8_t>(value));
  if (buffer.space == Space::StepIndex) return set(at, static_cast<std::int32_t>(value));
  switch (buffer.dtype) {
    case DType::Float16: return set(at, float_to_half(static_cast<float>(value)));
    case DType::BFloat16: return set(at, float_to_bfloat16(static_cast<float>(value)));
    case DType::Float32: return set(at, static_cast<float>(value));
    case DType::Float64: return set(at, value);
  }
}

double rounded(double value, DType dtype) {
  Buffer buffer;
  buffer.dtype = dtype;
  std::byte memory[8];
  write_element(buffer, memory, value);
  return read_element(buffer, memory);
}

DeviceMemory::DeviceMemory(std::int64_t bytes)
    : memory_(static_cast<std::size_t>(bytes) + 256, std::byte{0xFF}), bytes_(bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  begin_ = memory_.data() + (256 - address % 256) % 256;
}

}  // namespace cellfuse::emulation
