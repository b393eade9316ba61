#include "ir/target.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace cellfuse {

namespace {

Target cpu_target() {
  Target target;
  target.name = "cpu";
  target.kind = TargetKind::Cpu;
  target.on_chip_bytes = 1 << 20;
  return target;
}

constexpr std::int64_t kKiB = 1024;

Target cuda_target(std::string name, int blocks, std::int64_t shared_bytes, std::int64_t register_bytes, double flops,
                   double bandwidth) {
  Target target;
  target.name = std::move(name);
  target.kind = TargetKind::Cuda;
  target.blocks = blocks;
  target.vector_bytes = 16;
  target.on_chip_bytes = shared_bytes + register_bytes;
  target.shared_bytes = shared_bytes;
  target.flops_float32 = flops / blocks;
  target.memory_bandwidth = bandwidth;
  target.gemm_call_overhead = 3e-6;
  target.launch_overhead = 0.55e-6;
  target.synchronisation = 0.93e-6;
  return target;
}

/// Shared memory that a block can have: CUDA C++ programming guide, technical specifications per compute capability.
std::int64_t shared_bytes_of(int capability) {
  if (capability >= 120) return 99 * kKiB;
  if (capability >= 90) return 227 * kKiB;
  if (capability == 80 || capability == 87) return 163 * kKiB;
  if (capability >= 86) return 99 * kKiB;
  if (capability == 75) return 64 * kKiB;
  return 48 * kKiB;
}

const std::array<Target, 5>& table() {
  // Multiprocessors, shared memory and registers of one, float32 rate, memory bandwidth: the vendors' data sheets.
  static const std::array<Target, 5> rows{
      cpu_target(),
      cuda_target("h200", 132, 227 * kKiB, 256 * kKiB, 67e12, 4.8e12),
      cuda_target("h100", 132, 227 * kKiB, 256 * kKiB, 67e12, 3.35e12),
      cuda_target("a100", 108, 163 * kKiB, 256 * kKiB, 19.5e12, 2.0e12),
      cuda_target("emulated", 4, 16 * kKiB, 48 * kKiB, 1e9, 1e9),
  };
  return rows;
}

}  // namespace

std::span<const Target> known_targets() { return table(); }

std::optional<Target> find_target(std::string_view name) {
  for (const Target& target : table()) {
    if (target.name == name) return target;
  }
  constexpr std::string_view kPrefix = "sm_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::string_view digits = name.substr(kPrefix.size());
  bool whole = digits.size() >= 2 && digits.size() <= 3 && std::all_of(digits.begin(), digits.end(), [](char c) {
                 return std::isdigit(static_cast<unsigned char>(c)) != 0;
               });
  if (!whole) return std::nullopt;
  // A generic machine of the architecture: modest in every other respect.
  const int capability = std::stoi(std::string(digits));
  return cuda_target(std::string(name), 40, shared_bytes_of(capability), 64 * kKiB, 8e12, 0.3e12);
}

}  // namespace cellfuse
