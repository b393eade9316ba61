#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <initializer_list>

#include "codegen/cpu/math.h"
#include "codegen/cpu/storage.h"

// Range reductions are those of W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980); the
// polynomials are minimax for the relative error of the function (Remez exchange), rounded to float32.

namespace cellfuse::cpu {

namespace {

llvm::Value* multiply_add(Builder& b, llvm::Value* x, llvm::Value* y, llvm::Value* z) {
  return b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fmuladd, {x, y, z});
}

/// Coefficients from the highest power.
llvm::Value* polynomial(Builder& b, llvm::Value* x, std::initializer_list<double> coefficients) {
  llvm::Value* sum = nullptr;
  for (double c : coefficients) {
    llvm::Constant* term = real_constant(x->getType(), c);
    sum = sum == nullptr ? static_cast<llvm::Value*>(term) : multiply_add(b, sum, x, term);
  }
  return sum;
}

// NaN passes: it compares false.
llvm::Value* at_least(Builder& b, llvm::Value* x, double bound) {
  llvm::Constant* limit = real_constant(x->getType(), bound);
  return b.CreateSelect(b.CreateFCmpOLT(x, limit), limit, x);
}

llvm::Value* at_most(Builder& b, llvm::Value* x, double bound) {
  llvm::Constant* limit = real_constant(x->getType(), bound);
  return b.CreateSelect(b.CreateFCmpOGT(x, limit), limit, x);
}

// Added to a small number, it leaves the nearest integer in the low bits.
constexpr double kRounder = 0x1.8p23;

// ln 2 in two parts, the first with trailing zeros: its product with a small integer is exact.
constexpr double kLn2High = 0x1.62e4p-1;
constexpr double kLn2Low = 0x1.7f7d1cp-20;

/// p * 2^n for whole n in [-160, 160], rounded once or, below the normal range, twice; `rounded` is kRounder + n.
llvm::Value* scale(const Unit& unit, Builder& b, llvm::Value* p, llvm::Value* n, llvm::Value* rounded) {
  llvm::Type* type = p->getType();
  if (type->isVectorTy() && unit.machine.scalef) {
    return b.CreateIntrinsic(type, llvm::Intrinsic::x86_avx512_mask_scalef_ps_512,
                             {p, n, p, b.getInt16(0xFFFF), b.getInt32(4)});
  }
  llvm::Type* i32 = integer_like(type, 32);
  auto number = [&](std::uint32_t value) { return llvm::ConstantInt::get(i32, value); };
  llvm::Value* whole = b.CreateSub(b.CreateBitCast(rounded, i32), number(0x4B400000));
  llvm::Value* half = b.CreateAShr(whole, 1);
  auto power = [&](llvm::Value* exponent) {
    return b.CreateBitCast(b.CreateShl(b.CreateAdd(exponent, number(127)), 23), type);
  };
  return b.CreateFMul(b.CreateFMul(p, power(half)), power(b.CreateSub(whole, half)));
}

/// exp of an argument in parts: 2^n (1 + p).
struct ExpParts {
  llvm::Value* n = nullptr;
  llvm::Value* rounded = nullptr;  ///< kRounder + n
  llvm::Value* p = nullptr;
};

ExpParts exp_parts(Builder& b, llvm::Value* x) {
  llvm::Type* type = x->getType();
  auto number = [&](double value) { return real_constant(type, value); };
  ExpParts parts;
  parts.rounded = multiply_add(b, x, number(1.4426950408889634), number(kRounder));
  parts.n = b.CreateFSub(parts.rounded, number(kRounder));
  llvm::Value* r = multiply_add(b, parts.n, number(-kLn2High), x);
  r = multiply_add(b, parts.n, number(-kLn2Low), r);
  llvm::Value* q = polynomial(b, r, {0x1.6a2430p-10, 0x1.1239e2p-7, 0x1.5558f2p-5, 0x1.555492p-3, 0x1.fffffcp-2});
  parts.p = multiply_add(b, b.CreateFMul(r, r), q, r);
  return parts;
}

/// exp of x in [-105, 90] or NaN.
llvm::Value* exp_in_range(const Unit& unit, Builder& b, llvm::Value* x) {
  const ExpParts parts = exp_parts(b, x);
  return scale(unit, b, b.CreateFAdd(parts.p, real_constant(x->getType(), 1)), parts.n, parts.rounded);
}

}  // namespace

llvm::Value* emit_exp_float32(const Unit& unit, Builder& b, llvm::Value* x) {
  return exp_in_range(unit, b, at_most(b, at_least(b, x, -105), 90));
}

// exp is taken of -|x|, so that neither side loses its small values.
llvm::Value* emit_sigmoid_float32(const Unit& unit, Builder& b, llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value* e = exp_in_range(unit, b, at_least(b, b.CreateFNeg(magnitude), -105));
  llvm::Constant* one = real_constant(type, 1);
  llvm::Value* negative = b.CreateFCmpOLT(x, real_constant(type, 0));
  return b.CreateFDiv(b.CreateSelect(negative, e, one), b.CreateFAdd(e, one));
}

// t / (t + 2) with t = exp(2 |x|) - 1 = 2^n p + (2^n - 1), in which nothing cancels. From 9.02 on it rounds to 1.
llvm::Value* emit_tanh_float32(const Unit& /*unit*/, Builder& b, llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Type* i32 = integer_like(type, 32);
  auto number = [&](double value) { return real_constant(type, value); };
  llvm::Value* magnitude = at_most(b, b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), 9.02);
  const ExpParts parts = exp_parts(b, b.CreateFAdd(magnitude, magnitude));
  // n lies in the low bits of its rounded form; the others leave on the left.
  llvm::Value* exponent = b.CreateShl(b.CreateBitCast(parts.rounded, i32), 23);
  llvm::Value* power = b.CreateBitCast(b.CreateAdd(exponent, llvm::ConstantInt::get(i32, 0x3F800000)), type);
  llvm::Value* t = multiply_add(b, power, parts.p, b.CreateFSub(power, number(1)));
  llvm::Value* result = b.CreateFDiv(t, b.CreateFAdd(t, number(2)));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

// x = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = f - f^2 / 2 + f^3 P(f) with f = m - 1.
llvm::Value* emit_log_float32(const Unit& /*unit*/, Builder& b, llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Type* i32 = integer_like(type, 32);
  auto number = [&](double value) { return real_constant(type, value); };
  auto integer = [&](std::uint32_t value) { return llvm::ConstantInt::get(i32, value); };
  constexpr std::uint32_t kSqrtHalf = 0x3F3504F3;

  llvm::Value* subnormal = b.CreateFCmpOLT(x, number(0x1p-126));
  llvm::Value* normal = b.CreateSelect(subnormal, b.CreateFMul(x, number(0x1p23)), x);
  llvm::Value* bits = b.CreateSub(b.CreateBitCast(normal, i32), integer(kSqrtHalf));
  llvm::Value* e = b.CreateSIToFP(b.CreateAShr(bits, 23), type);
  e = b.CreateFSub(e, b.CreateSelect(subnormal, number(23), number(0)));
  llvm::Value* m = b.CreateBitCast(b.CreateAdd(b.CreateAnd(bits, integer(0x007FFFFF)), integer(kSqrtHalf)), type);
  llvm::Value* f = b.CreateFSub(m, number(1));

  llvm::Value* p = polynomial(b, f,
                              {-0x1.38b7a0p-4, 0x1.055bee0p-3, -0x1.0d8514p-3, 0x1.22da06p-3, -0x1.547248p-3,
                               0x1.99a00ap-3, -0x1.000226p-2, 0x1.555554p-2});
  llvm::Value* square = b.CreateFMul(f, f);
  llvm::Value* low = b.CreateFMul(e, number(kLn2Low));
  low = multiply_add(b, b.CreateFMul(square, f), p, low);
  low = multiply_add(b, square, number(-0.5), low);
  llvm::Value* result = multiply_add(b, e, number(kLn2High), b.CreateFAdd(f, low));

  llvm::Constant* infinity = llvm::ConstantFP::getInfinity(type);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, infinity), infinity, result);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, number(0)), llvm::ConstantFP::getInfinity(type, true), result);
  // Below zero, and NaN.
  return b.CreateSelect(b.CreateFCmpULT(x, number(0)), llvm::ConstantFP::getNaN(type), result);
}

}  // namespace cellfuse::cpu
