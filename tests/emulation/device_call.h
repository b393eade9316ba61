#pragma once

#include <array>
#include <list>
#include <map>
#include <vector>

#include "codegen/cuda/call.h"
#include "tests/emulation/device_run.h"
#include "tests/emulation/typed_memory.h"

namespace cellfuse::emulation {

/// The memory of one call of an emitted plan, and the table that its kernels are given.
class DeviceCall {
 public:
  DeviceCall(const Plan& plan, const cuda::CudaSource& source, const RunArguments& arguments,
             const RunOptions& options);

  /// Points the table at a chunk.
  void begin_chunk(std::int64_t first, std::int64_t steps);
  std::int64_t chunk_steps() const { return chunk_; }
  std::int64_t steps() const { return header().steps; }
  const void* table() const { return table_.data(); }
  MemoryWatch& watch() { return watch_; }

  /// Makes the second buffer of each state the current one.
  void exchange_states(const std::vector<std::array<int, 2>>& states);
  /// For the matrix products of an iteration only.
  void exchange_for_library(const std::vector<std::array<int, 2>>& states, bool odd);

  /// An element of the row of a step and a sample, as a matrix product sees it.
  double get(int buffer, std::int64_t step, std::int64_t sample, std::int64_t element);
  void set(int buffer, std::int64_t step, std::int64_t sample, std::int64_t element, double value);

  /// What the caller gets.
  RunResults results();

 private:
  struct Place {
    std::byte* data = nullptr;  ///< at step 0 of the data
    std::int64_t time = 0;      ///< elements
    std::int64_t batch = 0;
  };

  cuda::CallHeader& header() { return *reinterpret_cast<cuda::CallHeader*>(table_.data()); }
  const cuda::CallHeader& header() const { return *reinterpret_cast<const cuda::CallHeader*>(table_.data()); }
  cuda::TableEntry& entry(int buffer);
  const Buffer& buffer(int id) const { return plan_.buffers[static_cast<std::size_t>(id)]; }
  std::byte* address(int buffer, std::int64_t step, std::int64_t sample, std::int64_t element);

  DeviceMemory& allocate(std::int64_t bytes, const std::string& name);
  void place_arenas();
  void place_buffer(int id);
  void place_own(int id, std::int64_t rows);
  void place_tensor(int id);
  void place_flags(int id, const std::vector<std::uint8_t>& flags);
  void place_step_index(int id);
  const Values* given_values(const Buffer& buffer) const;
  bool is_caller_tensor(const Buffer& buffer) const;
  std::size_t record_field(int index, bool input) const;
  Values read_back(int id, std::int64_t steps, std::int64_t samples);

  const Plan& plan_;
  const cuda::CudaSource& source_;
  const RunArguments& arguments_;
  const RunOptions& options_;
  std::int64_t chunk_;
  std::int64_t first_ = 0;
  MemoryWatch watch_;
  std::list<DeviceMemory> memory_;
  std::vector<Place> places_;  // by buffer
  std::vector<std::uint64_t> table_;
  std::map<int, int> exchanged_;  // buffers as matrix products see them
};

}  // namespace cellfuse::emulation
