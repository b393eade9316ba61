#include "codegen/cpu/philox.h"

#include <array>
#include <utility>

#include "codegen/cpu/storage.h"

namespace cellfuse::cpu {

namespace {

/// High and low half of the 64-bit product with a constant.
std::pair<llvm::Value*, llvm::Value*> multiply(Builder& b, llvm::Value* x, std::uint32_t factor) {
  llvm::Type* wide = integer_like(x->getType(), 64);
  llvm::Value* product = b.CreateMul(b.CreateZExt(x, wide), llvm::ConstantInt::get(wide, factor));
  return {b.CreateTrunc(b.CreateLShr(product, 32), x->getType()), b.CreateTrunc(product, x->getType())};
}

}  // namespace

llvm::Value* emit_uniform(const Unit& unit, Builder& b, const DrawPlace& place, llvm::Value* element) {
  constexpr int kRounds = 10;
  llvm::Type* type = element->getType();
  auto spread = [&](llvm::Value* scalar) -> llvm::Value* {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector == nullptr ? scalar : b.CreateVectorSplat(vector->getNumElements(), scalar);
  };
  llvm::Value* key0 = b.CreateTrunc(place.key, unit.i32());
  llvm::Value* key1 = b.CreateTrunc(b.CreateLShr(place.key, 32), unit.i32());
  std::array<llvm::Value*, 4> counter{b.CreateLShr(element, 2), spread(place.step), spread(place.sample),
                                      spread(place.place)};
  for (int round = 0; round < kRounds; ++round) {
    auto [high0, low0] = multiply(b, counter[0], 0xD2511F53U);
    auto [high1, low1] = multiply(b, counter[2], 0xCD9E8D57U);
    counter = {b.CreateXor(b.CreateXor(high1, counter[1]), spread(key0)), low1,
               b.CreateXor(b.CreateXor(high0, counter[3]), spread(key1)), low0};
    key0 = b.CreateAdd(key0, b.getInt32(0x9E3779B9U));
    key1 = b.CreateAdd(key1, b.getInt32(0xBB67AE85U));
  }
  auto bit = [&](std::uint32_t mask) {
    llvm::Value* masked = b.CreateAnd(element, llvm::ConstantInt::get(type, mask));
    return b.CreateICmpNE(masked, llvm::Constant::getNullValue(type));
  };
  llvm::Value* odd = bit(1);
  llvm::Value* word =
      b.CreateSelect(bit(2), b.CreateSelect(odd, counter[3], counter[2]), b.CreateSelect(odd, counter[1], counter[0]));
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  llvm::Type* real = vector == nullptr ? unit.real : llvm::FixedVectorType::get(unit.real, vector->getNumElements());
  return b.CreateFMul(b.CreateSIToFP(b.CreateLShr(word, 8), real), real_constant(real, 0x1p-24));
}

}  // namespace cellfuse::cpu
