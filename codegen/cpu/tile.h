#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/cpu/unit.h"

namespace cellfuse::cpu {

/// A tile of a matrix product in registers: c[row, :] += sum over steps of a[row, step] * w[step, :].
struct Tile {
  std::vector<llvm::Value*> rows;     ///< a[row, 0]
  std::int64_t row_step = 0;          ///< bytes between a[row, step] and a[row, step + 1]
  llvm::Value* w = nullptr;           ///< w[0, 0]
  std::int64_t w_step = 0;            ///< bytes between w[step, 0] and w[step + 1, 0]
  std::vector<std::int64_t> vectors;  ///< bytes from w[step, 0] to each vector of w[step, :]
  llvm::Value* steps = nullptr;       ///< at least 1
  std::int64_t unroll = 1;            ///< divides `steps`
};

/// Emits straight-line code and plain loops into one function, for matrix products.
class TileEmitter {
 public:
  TileEmitter(const Unit& unit, llvm::Function* function);

  Builder& builder() { return b_; }
  llvm::BasicBlock* block(const std::string& name);
  llvm::Value* argument(unsigned index, const char* name);
  llvm::Value* bytes_from(llvm::Value* pointer, llvm::Value* bytes);
  llvm::Value* bytes_from(llvm::Value* pointer, std::int64_t bytes);
  /// `for (i = begin; i != end; i += step) body(i)`, at least once.
  void loop(llvm::Value* begin, llvm::Value* end, std::int64_t step, const std::string& name,
            const std::function<void(llvm::Value*)>& body);

  /// The sums of a tile: all vectors of the first row, then of the next one.
  std::vector<llvm::Value*> sums(const Tile& tile);
  /// Stores a vector of which `live` lanes exist, or adds it to what is there.
  void put(llvm::Value* sum, llvm::Value* pointer, std::int64_t live, bool add);
  /// The first `live` lanes; null for all of them.
  llvm::Value* first_lanes(std::int64_t live);

 private:
  const Unit& unit_;
  llvm::Function* function_;
  Builder b_;
};

}  // namespace cellfuse::cpu
