#include "codegen/cpu/storage.h"

#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

llvm::Type* with_lanes(llvm::Type* like, llvm::Type* element) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector != nullptr ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

llvm::Constant* bits(llvm::Type* like, std::uint32_t value) { return llvm::ConstantInt::get(like, value); }

llvm::Value* bfloat16_to_float(Builder& b, llvm::Value* raw) {
  llvm::Type* i32 = integer_like(raw->getType(), 32);
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(raw, i32), 16), with_lanes(raw->getType(), b.getFloatTy()));
}

// Adding half of the last place, less one where the kept part is even, carries exactly when rounding up is due. A NaN
// could carry into infinity: it keeps its upper half and is made quiet.
llvm::Value* float_to_bfloat16(Builder& b, llvm::Value* value) {
  llvm::Type* i32 = integer_like(value->getType(), 32);
  llvm::Value* u = b.CreateBitCast(value, i32);
  llvm::Value* upper = b.CreateLShr(u, 16);
  llvm::Value* rounded = b.CreateAdd(b.CreateAdd(u, bits(i32, 0x7fff)), b.CreateAnd(upper, bits(i32, 1)));
  llvm::Value* quiet = b.CreateOr(upper, bits(i32, 0x40));
  llvm::Value* result = b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, b.CreateLShr(rounded, 16));
  return b.CreateTrunc(result, integer_like(value->getType(), 16));
}

// A half's exponent and fraction, moved to a float's place, are 2^-112 of its value, subnormals included.
llvm::Value* float16_to_float_in_integers(Builder& b, llvm::Value* raw) {
  llvm::Type* i32 = integer_like(raw->getType(), 32);
  llvm::Type* real = with_lanes(raw->getType(), b.getFloatTy());
  llvm::Value* u = b.CreateZExt(raw, i32);
  llvm::Value* magnitude = b.CreateShl(b.CreateAnd(u, bits(i32, 0x7fff)), 13);
  llvm::Value* sign = b.CreateShl(b.CreateAnd(u, bits(i32, 0x8000)), 16);
  llvm::Value* scaled = b.CreateFMul(b.CreateBitCast(magnitude, real), real_constant(real, 0x1p112));
  llvm::Value* special = b.CreateFCmpOGE(scaled, real_constant(real, 65536.0));
  llvm::Value* out = b.CreateBitCast(scaled, i32);
  out = b.CreateSelect(special, b.CreateOr(out, bits(i32, 0x7f800000)), out);
  return b.CreateBitCast(b.CreateOr(out, sign), real);
}

llvm::Value* float_to_float16_in_integers(Builder& b, llvm::Value* value) {
  constexpr std::uint32_t kHalf = 126U << 23U;      // 0.5, whose last place is the smallest half's
  constexpr std::uint32_t kTooLarge = 143U << 23U;  // 65536
  constexpr std::uint32_t kSmallestNormal = 113U << 23U;
  constexpr std::uint32_t kRebias = ((15U - 127U) << 23U) + 0xfffU;
  llvm::Type* real = value->getType();
  llvm::Type* i32 = integer_like(real, 32);
  llvm::Value* u = b.CreateBitCast(value, i32);
  llvm::Value* magnitude = b.CreateAnd(u, bits(i32, 0x7fffffff));
  llvm::Value* sign = b.CreateAnd(b.CreateLShr(u, 16), bits(i32, 0x8000));

  llvm::Value* odd = b.CreateAnd(b.CreateLShr(magnitude, 13), bits(i32, 1));
  llvm::Value* normal = b.CreateLShr(b.CreateAdd(b.CreateAdd(magnitude, bits(i32, kRebias)), odd), 13);
  llvm::Value* shifted = b.CreateFAdd(b.CreateBitCast(magnitude, real), real_constant(real, 0.5));
  llvm::Value* subnormal = b.CreateSub(b.CreateBitCast(shifted, i32), bits(i32, kHalf));
  llvm::Value* special = b.CreateSelect(b.CreateFCmpUNO(value, value), bits(i32, 0x7e00), bits(i32, 0x7c00));
  llvm::Value* result = b.CreateSelect(b.CreateICmpULT(magnitude, bits(i32, kSmallestNormal)), subnormal, normal);
  result = b.CreateSelect(b.CreateICmpUGE(magnitude, bits(i32, kTooLarge)), special, result);
  return b.CreateTrunc(b.CreateOr(result, sign), integer_like(real, 16));
}

llvm::Value* addresses(const Unit& unit, Builder& builder, llvm::Value* base, llvm::Value* offsets, Stored stored) {
  return builder.CreateGEP(raw_type(unit, stored), base, builder.CreateSExtOrTrunc(offsets, unit.vector(unit.i64())));
}

}  // namespace

Stored stored_as(const Buffer& buffer) {
  switch (buffer.space) {
    case Space::Live:
    case Space::Reset: return Stored::Byte;
    case Space::StepIndex: return Stored::Integer32;
    default: break;
  }
  switch (buffer.dtype) {
    case DType::Float16: return Stored::Float16;
    case DType::BFloat16: return Stored::BFloat16;
    case DType::Float32: return Stored::Float32;
    case DType::Float64: return Stored::Float64;
  }
  throw InternalError("codegen/cpu", "unknown dtype");
}

std::int64_t bytes(Stored stored) {
  switch (stored) {
    case Stored::Byte: return 1;
    case Stored::Float16:
    case Stored::BFloat16: return 2;
    case Stored::Float32:
    case Stored::Integer32: return 4;
    case Stored::Float64: return 8;
  }
  return 0;
}

llvm::Type* raw_type(const Unit& unit, Stored stored) {
  switch (stored) {
    case Stored::Byte: return llvm::Type::getInt8Ty(unit.context());
    case Stored::Float16:
    case Stored::BFloat16: return llvm::Type::getInt16Ty(unit.context());
    case Stored::Integer32: return unit.i32();
    case Stored::Float32: return llvm::Type::getFloatTy(unit.context());
    case Stored::Float64: return llvm::Type::getDoubleTy(unit.context());
  }
  return nullptr;
}

llvm::Value* widen(const Unit& unit, Builder& b, llvm::Value* raw, Stored stored) {
  llvm::Type* real = with_lanes(raw->getType(), unit.real);
  switch (stored) {
    case Stored::Byte: return b.CreateUIToFP(b.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType())), real);
    case Stored::Integer32: return b.CreateSIToFP(raw, real);
    case Stored::BFloat16: raw = bfloat16_to_float(b, raw); break;
    case Stored::Float16:
      raw = unit.machine.half_conversion
                ? b.CreateFPExt(b.CreateBitCast(raw, with_lanes(raw->getType(), b.getHalfTy())),
                                with_lanes(raw->getType(), b.getFloatTy()))
                : float16_to_float_in_integers(b, raw);
      break;
    case Stored::Float32:
    case Stored::Float64: break;
  }
  return b.CreateFPCast(raw, real);
}

llvm::Value* narrow(const Unit& unit, Builder& b, llvm::Value* value, Stored stored) {
  llvm::Type* single = with_lanes(value->getType(), b.getFloatTy());
  switch (stored) {
    case Stored::Float64: return b.CreateFPCast(value, with_lanes(value->getType(), b.getDoubleTy()));
    case Stored::Float32: return b.CreateFPCast(value, single);
    case Stored::BFloat16: return float_to_bfloat16(b, b.CreateFPCast(value, single));
    case Stored::Float16: {
      value = b.CreateFPCast(value, single);
      if (!unit.machine.half_conversion) return float_to_float16_in_integers(b, value);
      llvm::Value* half = b.CreateFPTrunc(value, with_lanes(single, b.getHalfTy()));
      return b.CreateBitCast(half, integer_like(single, 16));
    }
    case Stored::Byte:
    case Stored::Integer32: break;
  }
  throw InternalError("codegen/cpu", "a store into a buffer of flags");
}

llvm::Value* load_one(const Unit& unit, Builder& builder, llvm::Value* pointer, Stored stored) {
  return builder.CreateAlignedLoad(raw_type(unit, stored), pointer,
                                   llvm::Align(static_cast<std::uint64_t>(bytes(stored))));
}

llvm::Value* load_vector(const Unit& unit, Builder& builder, llvm::Value* pointer, Stored stored, llvm::Value* mask) {
  llvm::Type* type = unit.vector(raw_type(unit, stored));
  const llvm::Align align(static_cast<std::uint64_t>(bytes(stored)));
  if (mask == nullptr) return builder.CreateAlignedLoad(type, pointer, align);
  return builder.CreateMaskedLoad(type, pointer, align, mask, llvm::Constant::getNullValue(type));
}

llvm::Value* gather(const Unit& unit, Builder& builder, llvm::Value* base, llvm::Value* offsets, Stored stored,
                    llvm::Value* mask) {
  llvm::Type* type = unit.vector(raw_type(unit, stored));
  const llvm::Align align(static_cast<std::uint64_t>(bytes(stored)));
  if (mask == nullptr) mask = llvm::Constant::getAllOnesValue(unit.vector(builder.getInt1Ty()));
  return builder.CreateMaskedGather(type, addresses(unit, builder, base, offsets, stored), align, mask,
                                    llvm::Constant::getNullValue(type));
}

void store_one(const Unit& /*unit*/, Builder& builder, llvm::Value* raw, llvm::Value* pointer, Stored stored) {
  builder.CreateAlignedStore(raw, pointer, llvm::Align(static_cast<std::uint64_t>(bytes(stored))));
}

void store_vector(const Unit& /*unit*/, Builder& builder, llvm::Value* raw, llvm::Value* pointer, Stored stored,
                  llvm::Value* mask) {
  const llvm::Align align(static_cast<std::uint64_t>(bytes(stored)));
  if (mask == nullptr) {
    builder.CreateAlignedStore(raw, pointer, align);
  } else {
    builder.CreateMaskedStore(raw, pointer, align, mask);
  }
}

void scatter(const Unit& unit, Builder& builder, llvm::Value* raw, llvm::Value* base, llvm::Value* offsets,
             Stored stored, llvm::Value* mask) {
  const llvm::Align align(static_cast<std::uint64_t>(bytes(stored)));
  if (mask == nullptr) mask = llvm::Constant::getAllOnesValue(unit.vector(builder.getInt1Ty()));
  builder.CreateMaskedScatter(raw, addresses(unit, builder, base, offsets, stored), align, mask);
}

llvm::Constant* real_constant(llvm::Type* like, double value) { return llvm::ConstantFP::get(like, value); }

llvm::Type* integer_like(llvm::Type* like, unsigned bits) {
  return with_lanes(like, llvm::IntegerType::get(like->getContext(), bits));
}

}  // namespace cellfuse::cpu
