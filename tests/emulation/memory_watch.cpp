#include "tests/emulation/memory_watch.h"

#include <fmt/format.h>

namespace cellfuse::emulation {

namespace {

constexpr std::size_t kGranule = 2;  // bytes of the smallest element that kernels write
constexpr int kWarp = 32;

std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

std::string describe(const Moment& moment) { return fmt::format("block {} thread {}", moment.block, moment.thread); }

}  // namespace

void MemoryWatch::add(const void* begin, std::size_t bytes, const std::string& name) {
  Region region;
  region.bytes = bytes;
  region.name = name;
  region.cells.resize((bytes + kGranule - 1) / kGranule);
  regions_[address(begin)] = std::move(region);
}

void MemoryWatch::remove(const void* begin) { regions_.erase(address(begin)); }

void MemoryWatch::forget(const void* begin) {
  for (Cell& cell : regions_.at(address(begin)).cells) cell = {};
}

MemoryWatch::Region& MemoryWatch::region(const void* at, std::size_t bytes, const Moment& now, std::size_t& offset) {
  auto it = regions_.find(last_);
  if (it == regions_.end() || address(at) < it->first || address(at) >= it->first + it->second.bytes) {
    it = regions_.upper_bound(address(at));
    if (it != regions_.begin()) --it;
  }
  const bool inside =
      it != regions_.end() && address(at) >= it->first && address(at) + bytes <= it->first + it->second.bytes;
  if (!inside) {
    const bool near = it != regions_.end() && address(at) >= it->first;
    throw EmulationError(fmt::format("{} accesses {} bytes outside of all memory{}", describe(now), bytes,
                                     near ? fmt::format(", {} bytes past the beginning of `{}` ({} bytes)",
                                                        address(at) - it->first, it->second.name, it->second.bytes)
                                          : ""));
  }
  if (address(at) % bytes != 0) {
    throw EmulationError(fmt::format("{} accesses {} bytes of `{}` at an address that is no multiple of that",
                                     describe(now), bytes, it->second.name));
  }
  last_ = it->first;
  offset = address(at) - it->first;
  return it->second;
}

MemoryWatch::Cell& MemoryWatch::fresh(Cell& cell) const {
  if (cell.launch != launch_) {
    cell = {};
    cell.launch = launch_;
  }
  return cell;
}

/// Whether what happened at `before` is seen at `now`, and cannot be disturbed by it.
bool MemoryWatch::is_ordered(const Moment& before, const Moment& now) {
  if (before.block != now.block) return false;
  if (before.thread == now.thread || before.block_barriers < now.block_barriers) return true;
  return before.thread / kWarp == now.thread / kWarp && before.warp_barriers < now.warp_barriers;
}

void MemoryWatch::race(const Region& region, std::size_t offset, const char* what, const Moment& before,
                       const Moment& now) const {
  throw EmulationError(fmt::format("race on `{}`, byte {}: {} {} {}, with no barrier in between", region.name, offset,
                                   describe(now), what, describe(before)));
}

void MemoryWatch::add_reader(Cell& cell, const Moment& now) const {
  for (int i = 0; i < cell.readers; ++i) {
    if (is_ordered(cell.reader[i], now)) {
      cell.reader[i] = now;
      return;
    }
  }
  if (cell.readers < 2) cell.reader[cell.readers++] = now;
}

void MemoryWatch::read(const void* at, std::size_t bytes, bool constant, const Moment& now) {
  std::size_t offset = 0;
  Region& r = region(at, bytes, now, offset);
  for (std::size_t i = offset / kGranule; i * kGranule < offset + bytes; ++i) {
    Cell& cell = fresh(r.cells[i]);
    if (constant && cell.written) race(r, i * kGranule, "reads as constant what was written by", cell.writer, now);
    if (cell.written && !is_ordered(cell.writer, now))
      race(r, i * kGranule, "reads what was written by", cell.writer, now);
    cell.read_as_constant = cell.read_as_constant || constant;
    add_reader(cell, now);
  }
}

void MemoryWatch::write(const void* at, std::size_t bytes, const Moment& now) {
  std::size_t offset = 0;
  Region& r = region(at, bytes, now, offset);
  for (std::size_t i = offset / kGranule; i * kGranule < offset + bytes; ++i) {
    Cell& cell = fresh(r.cells[i]);
    if (cell.read_as_constant) race(r, i * kGranule, "writes what was read as constant by", cell.reader[0], now);
    if (cell.written && !is_ordered(cell.writer, now))
      race(r, i * kGranule, "overwrites what was written by", cell.writer, now);
    for (int k = 0; k < cell.readers; ++k) {
      if (!is_ordered(cell.reader[k], now)) race(r, i * kGranule, "overwrites what is read by", cell.reader[k], now);
    }
    cell.written = true;
    cell.writer = now;
    cell.readers = 0;
  }
}

}  // namespace cellfuse::emulation
