#include "codegen/cpu/math.h"

#include <llvm/IR/Intrinsics.h>

#include <string>
#include <vector>

#include "codegen/cpu/storage.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

std::string scalar_name(const Unit& unit, std::string_view function) {
  return std::string(function) + (unit.compute == DType::Float32 ? "f" : "");
}

/// As x86-64's vector ABI names it: width, lanes, a `v` for each argument.
std::string vector_name(const Unit& unit, std::string_view function, std::size_t arguments) {
  const char width = unit.machine.vector_bytes == 64 ? 'e' : (unit.machine.vector_bytes == 32 ? 'd' : 'b');
  return std::string("_ZGV") + width + "N" + std::to_string(unit.lanes) + std::string(arguments, 'v') + "_" +
         scalar_name(unit, function);
}

llvm::FunctionCallee pure(llvm::FunctionCallee callee) {
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return callee;
}

/// A function of this module that calls the scalar one for each lane.
llvm::Function* lane_by_lane(const Unit& unit, std::string_view function, llvm::FunctionCallee scalar,
                             std::size_t arguments) {
  const std::string name = std::string(function) + ".lanes";
  if (llvm::Function* made = unit.module.getFunction(name)) return made;
  llvm::Type* vector = unit.vector(unit.real);
  std::vector<llvm::Type*> types(arguments, vector);
  llvm::Function* each = unit.function(name, llvm::FunctionType::get(vector, types, false), true);
  each->setDoesNotAccessMemory();
  each->setWillReturn();
  Builder b(llvm::BasicBlock::Create(unit.context(), "entry", each));
  llvm::Value* result = llvm::PoisonValue::get(vector);
  for (int lane = 0; lane < unit.lanes; ++lane) {
    std::vector<llvm::Value*> operands;
    for (llvm::Argument& argument : each->args()) {
      operands.push_back(b.CreateExtractElement(&argument, static_cast<std::uint64_t>(lane)));
    }
    result = b.CreateInsertElement(result, b.CreateCall(scalar, operands), static_cast<std::uint64_t>(lane));
  }
  b.CreateRet(result);
  return each;
}

llvm::Value* library_call(const Unit& unit, Builder& b, std::string_view function,
                          std::span<llvm::Value* const> arguments) {
  llvm::Type* type = arguments[0]->getType();
  const llvm::ArrayRef<llvm::Value*> operands(arguments.data(), arguments.size());
  if (type->isVectorTy()) {
    const std::string name = vector_name(unit, function, arguments.size());
    if (unit.machine.has_function && unit.machine.has_function(name)) {
      std::vector<llvm::Type*> types(arguments.size(), type);
      return b.CreateCall(pure(unit.external(name, llvm::FunctionType::get(type, types, false))), operands);
    }
  }
  std::vector<llvm::Type*> types(arguments.size(), unit.real);
  llvm::FunctionCallee scalar =
      pure(unit.external(scalar_name(unit, function), llvm::FunctionType::get(unit.real, types, false)));
  if (!type->isVectorTy()) return b.CreateCall(scalar, operands);
  return b.CreateCall(lane_by_lane(unit, function, scalar, arguments.size()), operands);
}

llvm::Value* sigmoid_float64(const Unit& unit, Builder& b, llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Value* argument = b.CreateFNeg(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
  llvm::Value* e = library_call(unit, b, "exp", std::span(&argument, 1));
  llvm::Constant* one = real_constant(type, 1);
  llvm::Value* negative = b.CreateFCmpOLT(x, real_constant(type, 0));
  return b.CreateFDiv(b.CreateSelect(negative, e, one), b.CreateFAdd(e, one));
}

}  // namespace

llvm::Value* emit_math(const Unit& unit, Builder& builder, std::string_view function,
                       std::span<llvm::Value* const> arguments) {
  if (unit.compute == DType::Float32) {
    if (function == "exp") return emit_exp_float32(unit, builder, arguments[0]);
    if (function == "log") return emit_log_float32(unit, builder, arguments[0]);
    if (function == "tanh") return emit_tanh_float32(unit, builder, arguments[0]);
    if (function == "sigmoid") return emit_sigmoid_float32(unit, builder, arguments[0]);
  } else if (function == "sigmoid") {
    return sigmoid_float64(unit, builder, arguments[0]);
  }
  return library_call(unit, builder, function, arguments);
}

llvm::Value* emit_minimum(Builder& b, llvm::Value* a, llvm::Value* other) {
  llvm::Value* smaller = b.CreateSelect(b.CreateFCmpOLT(other, a), other, a);
  if (llvm::isa<llvm::Constant>(other)) return smaller;
  return b.CreateSelect(b.CreateFCmpUNO(other, other), other, smaller);
}

llvm::Value* emit_maximum(Builder& b, llvm::Value* a, llvm::Value* other) {
  llvm::Value* larger = b.CreateSelect(b.CreateFCmpOLT(a, other), other, a);
  if (llvm::isa<llvm::Constant>(other)) return larger;
  return b.CreateSelect(b.CreateFCmpUNO(other, other), other, larger);
}

}  // namespace cellfuse::cpu
