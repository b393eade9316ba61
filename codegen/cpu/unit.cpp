#include "codegen/cpu/unit.h"

#include <cstddef>

#include "codegen/cpu/frame.h"

namespace cellfuse::cpu {

static_assert(offsetof(Frame, data) == 0 && offsetof(Frame, time_stride) == 8 && offsetof(Frame, batch_stride) == 16);
static_assert(offsetof(Frame, steps) == 24 && offsetof(Frame, samples) == 32 && offsetof(Frame, first_sample) == 40);
static_assert(offsetof(Frame, first_processed) == 48 && offsetof(Frame, seed) == 56 && offsetof(Frame, offset) == 64);
static_assert(offsetof(Frame, layer) == 72 && offsetof(Frame, direction) == 76);

Unit::Unit(const Plan& plan, const Machine& machine, llvm::Module& module)
    : plan(plan),
      machine(machine),
      module(module),
      graph(plan.interface.graph),
      compute(info(plan.dtype).compute),
      real(compute == DType::Float64 ? llvm::Type::getDoubleTy(module.getContext())
                                     : llvm::Type::getFloatTy(module.getContext())),
      lanes(machine.vector_bytes / static_cast<int>(info(compute).bytes)) {}

llvm::Function* Unit::function(const std::string& name, llvm::FunctionType* type, bool internal) const {
  auto* function = llvm::Function::Create(
      type, internal ? llvm::GlobalValue::InternalLinkage : llvm::GlobalValue::ExternalLinkage, name, module);
  const std::string width = std::to_string(machine.vector_bytes * 8);
  function->addFnAttr("target-cpu", machine.cpu);
  function->addFnAttr("target-features", machine.features);
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr("min-legal-vector-width", width);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  if (internal) function->addFnAttr(llvm::Attribute::NoInline);
  return function;
}

void Unit::comment(llvm::Function* function, const std::string& text) const {
  function->setMetadata(kComment, llvm::MDNode::get(context(), llvm::MDString::get(context(), text)));
}

llvm::FunctionCallee Unit::external(const std::string& name, llvm::FunctionType* type) const {
  return module.getOrInsertFunction(name, type);
}

void allow_contraction(Builder& builder) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  builder.setFastMathFlags(flags);
}

llvm::Value* FrameFields::field(Builder& builder, int offset, llvm::Type* type, const char* name) const {
  return builder.CreateLoad(
      type, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), frame_, static_cast<unsigned>(offset)), name);
}

llvm::Value* FrameFields::entry(Builder& builder, int table, int buffer, llvm::Type* type) const {
  llvm::Value* array = field(builder, 8 * table, unit_->pointer(), "table");
  llvm::Value* slot = builder.CreateConstInBoundsGEP1_64(unit_->i64(), array, static_cast<unsigned>(buffer));
  return builder.CreateLoad(type, slot, unit_->plan.buffers[static_cast<std::size_t>(buffer)].name);
}

llvm::Value* FrameFields::data_slot(Builder& builder, int buffer) const {
  return builder.CreateConstInBoundsGEP1_64(unit_->i64(), field(builder, 0, unit_->pointer(), "table"),
                                            static_cast<unsigned>(buffer));
}

}  // namespace cellfuse::cpu
