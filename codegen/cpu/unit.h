#pragma once

#include <string>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/cpu/emit.h"
#include "ir/graph.h"

namespace cellfuse::cpu {

using Builder = llvm::IRBuilder<>;

/// What all parts of the emission of a plan share.
struct Unit {
  const Plan& plan;
  const Machine& machine;
  llvm::Module& module;
  Graph graph;       ///< the plan's, to which expansions of operations that are no primitives are added
  DType compute;     ///< type of arithmetic
  llvm::Type* real;  ///< the same
  int lanes;         ///< elements of a vector register

  Unit(const Plan& plan, const Machine& machine, llvm::Module& module);

  llvm::LLVMContext& context() const { return module.getContext(); }
  llvm::IntegerType* i64() const { return llvm::Type::getInt64Ty(context()); }
  llvm::IntegerType* i32() const { return llvm::Type::getInt32Ty(context()); }
  llvm::PointerType* pointer() const { return llvm::PointerType::getUnqual(context()); }
  llvm::FixedVectorType* vector(llvm::Type* element) const {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  }
  llvm::ConstantInt* number(std::int64_t value) const { return llvm::ConstantInt::getSigned(i64(), value); }
  std::int64_t real_bytes() const { return static_cast<std::int64_t>(info(compute).bytes); }

  /// A function of this module for the machine. Internal functions are not inlined: each shows up under its own name.
  llvm::Function* function(const std::string& name, llvm::FunctionType* type, bool internal) const;
  /// One line above the function in the printed module (see emit.h).
  void comment(llvm::Function* function, const std::string& text) const;
  /// A function of the runtime or of a library.
  llvm::FunctionCallee external(const std::string& name, llvm::FunctionType* type) const;
};

/// Arithmetic with nothing but contraction to fused multiply-adds allowed.
void allow_contraction(Builder& builder);

/// The fields of a Frame, loaded where the builder stands.
class FrameFields {
 public:
  FrameFields(const Unit& unit, llvm::Value* frame) : unit_(&unit), frame_(frame) {}

  llvm::Value* data(Builder& builder, int buffer) const { return entry(builder, 0, buffer, unit_->pointer()); }
  llvm::Value* data_slot(Builder& builder, int buffer) const;
  llvm::Value* time_stride(Builder& builder, int buffer) const { return entry(builder, 1, buffer, unit_->i64()); }
  llvm::Value* batch_stride(Builder& builder, int buffer) const { return entry(builder, 2, buffer, unit_->i64()); }
  llvm::Value* steps(Builder& builder) const { return field(builder, 24, unit_->i64(), "steps"); }
  llvm::Value* samples(Builder& builder) const { return field(builder, 32, unit_->i64(), "samples"); }
  llvm::Value* first_sample(Builder& builder) const { return field(builder, 40, unit_->i64(), "first_sample"); }
  llvm::Value* first_processed(Builder& builder) const { return field(builder, 48, unit_->i64(), "first_processed"); }
  llvm::Value* seed(Builder& builder) const { return field(builder, 56, unit_->i64(), "seed"); }
  llvm::Value* offset(Builder& builder) const { return field(builder, 64, unit_->i64(), "offset"); }
  llvm::Value* layer(Builder& builder) const { return field(builder, 72, unit_->i32(), "layer"); }
  llvm::Value* direction(Builder& builder) const { return field(builder, 76, unit_->i32(), "direction"); }

 private:
  llvm::Value* field(Builder& builder, int offset, llvm::Type* type, const char* name) const;
  llvm::Value* entry(Builder& builder, int table, int buffer, llvm::Type* type) const;

  const Unit* unit_;
  llvm::Value* frame_;
};

}  // namespace cellfuse::cpu
