#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "tests/emulation/memory_watch.h"

namespace cellfuse::emulation {

/// In which order the threads of a block, and the blocks of a grid, get on.
struct Schedule {
  enum class Order : std::uint8_t { Ascending, Descending, Random };
  Order order = Order::Ascending;
  std::uint32_t seed = 0;
};

struct Grid {
  std::int64_t blocks = 1;
  int threads = 1;
  std::int64_t shared_bytes = 0;
};

/// A kernel as emitted code defines it.
using KernelFunction = void (*)(const void* call, int iteration);

/// Runs a kernel: each thread is a fiber that runs until it waits for others, a block after the other. Throws
/// EmulationError that names the kernel when threads wait for others that never come, or when `watch` complains.
void launch(const std::string& name, KernelFunction kernel, const Grid& grid, const void* call, int iteration,
            const Schedule& schedule, MemoryWatch& watch);

// What the code of a kernel asks for, from inside of `launch`.
int thread_in_block();
int block_in_grid();
int blocks_in_grid();
void sync_block();
void sync_warp();
/// The `bytes` of `value` in the thread `source` of the warp (the thread's own where there is none) go to `result`.
void shuffle(const void* value, void* result, std::size_t bytes, int source);
int lane();
unsigned char* shared_memory();
void on_read(const void* at, std::size_t bytes, bool constant);
void on_write(const void* at, std::size_t bytes);

/// Kernels of the program, by name.
class KernelTable {
 public:
  static KernelTable& instance();
  void add(const std::string& name, KernelFunction function) { functions_[name] = function; }
  /// Throws EmulationError where there is none.
  KernelFunction find(const std::string& name) const;

 private:
  std::map<std::string, KernelFunction> functions_;
};

}  // namespace cellfuse::emulation
