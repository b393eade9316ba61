#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cellfuse {

/// Host memory that is kept for the next call: fresh pages cost more than most sequences. Safe from several threads.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  static constexpr std::size_t kAlignment = 64;

  /// A block that goes back to its pool.
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept { swap(other); }
    Block& operator=(Block&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Block();

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

   private:
    friend class MemoryPool;
    void swap(Block& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(data_, other.data_);
      std::swap(bytes_, other.bytes_);
      std::swap(capacity_, other.capacity_);
    }

    std::shared_ptr<MemoryPool> pool_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t capacity_ = 0;
  };

  ~MemoryPool();

  /// `bytes` of memory, contents undefined (in debug builds NaN in every dtype). Throws DeviceError that names the
  /// size.
  Block take(std::size_t bytes);

 private:
  struct Idle {
    std::byte* data;
    std::size_t capacity;
  };

  void give_back(std::byte* data, std::size_t capacity) noexcept;

  std::mutex mutex_;
  std::vector<Idle> idle_;  // the one given back last is last
};

}  // namespace cellfuse
