#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cellfuse {

enum class TargetKind : std::uint8_t { Cpu, Cuda };

/// What a pass may know of a machine. Times in seconds, rates per second, sizes in bytes.
struct Target {
  std::string name;  ///< as in `--target`
  TargetKind kind = TargetKind::Cpu;
  int blocks = 1;         ///< multiprocessors that share one sequence; 1 for a CPU thread, which owns its samples
  int threads = 1;        ///< CPU threads, among which the batch is divided
  int vector_bytes = 64;  ///< width of a vector register (CPU)
  std::int64_t on_chip_bytes = 0;    ///< per block: second-level cache (CPU), shared memory and registers (GPU)
  std::int64_t shared_bytes = 0;     ///< of shared memory that a block can have (GPU)
  double flops_float32 = 1e11;       ///< of one block
  double memory_bandwidth = 1e10;    ///< of the machine
  double gemm_call_overhead = 2e-7;  ///< of one library call
  double launch_overhead = 0;        ///< kernel to kernel
  double synchronisation = 0;        ///< all blocks, once
};

/// Targets that can be planned for without being there: `cpu` (a generic one), `h200`, `h100`, `a100`, `emulated`.
std::span<const Target> known_targets();
/// A known target, or `sm_XX`.
std::optional<Target> find_target(std::string_view name);

}  // namespace cellfuse
