#include "runtime/memory_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {
constexpr std::size_t kKept = 8;  // blocks: forward, record and backward of a few calls at once
}  // namespace

MemoryPool::Block::~Block() {
  if (data_) pool_->give_back(data_, capacity_);
}

MemoryPool::~MemoryPool() {
  for (const Idle& block : idle_) std::free(block.data);
}

MemoryPool::Block MemoryPool::take(std::size_t bytes) {
  Block block;
  block.pool_ = shared_from_this();
  block.bytes_ = bytes;
  block.capacity_ = std::max(bytes + (kAlignment - 1), kAlignment) / kAlignment * kAlignment;
  {
    const std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      const bool fits = it->capacity >= bytes && it->capacity / 2 <= block.capacity_;
      if (fits && (best == idle_.end() || it->capacity <= best->capacity)) best = it;
    }
    if (best != idle_.end()) {
      block.data_ = best->data;
      block.capacity_ = best->capacity;
      idle_.erase(best);
    }
  }
  if (!block.data_) block.data_ = static_cast<std::byte*>(std::aligned_alloc(kAlignment, block.capacity_));
  if (!block.data_) throw DeviceError(fmt::format("no memory: the system refused {} bytes", bytes));
#ifndef NDEBUG
  std::memset(block.data_, 0xFF, block.capacity_);
#endif
  return block;
}

void MemoryPool::give_back(std::byte* data, std::size_t capacity) noexcept {
  std::byte* dropped = data;
  {
    const std::lock_guard lock(mutex_);
    try {
      idle_.push_back({data, capacity});
      dropped = nullptr;
      if (idle_.size() > kKept) {
        dropped = idle_.front().data;
        idle_.erase(idle_.begin());
      }
    } catch (const std::bad_alloc&) {
      // Without memory to note it, the block is freed.
    }
  }
  std::free(dropped);
}

}  // namespace cellfuse
