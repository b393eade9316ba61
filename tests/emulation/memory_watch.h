#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace cellfuse::emulation {

/// A kernel did what a GPU does not allow.
class EmulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A thread at a moment: how many barriers of its block and of its warp it has passed.
struct Moment {
  int block = -1;
  int thread = -1;
  int block_barriers = 0;
  int warp_barriers = 0;
};

/// Sees every access of a kernel to memory. Complains about memory that is nobody's, and about two accesses of
/// different threads to the same element, one of them a write, that no barrier separates.
class MemoryWatch {
 public:
  /// Memory that kernels may access, for as long as it is there.
  void add(const void* begin, std::size_t bytes, const std::string& name);
  void remove(const void* begin);
  void rename(const void* begin, const std::string& name);

  /// Forgets the accesses so far: all of them happened before those to come.
  void begin_launch() { ++launch_; }
  /// Forgets those to one piece of memory.
  void forget(const void* begin);

  void read(const void* at, std::size_t bytes, bool constant, const Moment& now);
  void write(const void* at, std::size_t bytes, const Moment& now);

 private:
  /// What is known of an element.
  struct Cell {
    std::uint32_t launch = 0;
    bool written = false;
    bool read_as_constant = false;
    int readers = 0;
    Moment writer;
    Moment reader[2];  ///< two different threads that read since the last write, where there are two
  };
  struct Region {
    std::size_t bytes = 0;
    std::string name;
    std::vector<Cell> cells;
  };

  static bool is_ordered(const Moment& before, const Moment& now);
  Region& region(const void* at, std::size_t bytes, const Moment& now, std::size_t& offset);
  Cell& fresh(Cell& cell) const;
  void add_reader(Cell& cell, const Moment& now) const;
  [[noreturn]] void race(const Region& region, std::size_t offset, const char* what, const Moment& before,
                         const Moment& now) const;

  std::map<std::uintptr_t, Region> regions_;  ///< by first address
  std::uintptr_t last_ = 0;                   ///< first address of the region of the last access
  std::uint32_t launch_ = 1;
};

}  // namespace cellfuse::emulation
