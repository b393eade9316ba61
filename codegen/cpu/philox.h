#pragma once

#include "codegen/cpu/unit.h"

namespace cellfuse::cpu {

/// Where a draw is made, as `DrawAddress` of `ir/philox.h`; each a 32-bit integer, `key` 64-bit.
struct DrawPlace {
  llvm::Value* key = nullptr;
  llvm::Value* step = nullptr;
  llvm::Value* sample = nullptr;
  llvm::Value* place = nullptr;
};

/// `uniform24` of `ir/philox.h` in the compute type: one number for each lane of `element` (32-bit integers).
llvm::Value* emit_uniform(const Unit& unit, Builder& builder, const DrawPlace& place, llvm::Value* element);

}  // namespace cellfuse::cpu
