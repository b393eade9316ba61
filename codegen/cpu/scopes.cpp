#include "codegen/cpu/scopes.h"

namespace cellfuse::cpu {

Scopes::Scopes(const Unit& unit, llvm::Function* function)
    : unit_(&unit), function_(function), builder_(unit.context()) {
  allow_contraction(builder_);
  Scope entry;
  entry.block = llvm::BasicBlock::Create(unit.context(), "entry", function);
  scopes_.push_back(std::move(entry));
}

Builder& Scopes::at(int scope) {
  llvm::BasicBlock* block = (*this)[scope].block;
  if (llvm::Instruction* terminator = block->getTerminator()) {
    builder_.SetInsertPoint(terminator);
  } else {
    builder_.SetInsertPoint(block);
  }
  return builder_;
}

OpenLoop Scopes::open(llvm::Value* begin, llvm::Value* end, std::int64_t step, const std::string& name) {
  OpenLoop loop;
  loop.preheader = (*this)[innermost()].block;
  loop.body = llvm::BasicBlock::Create(unit_->context(), name, function_);
  loop.end = end;
  loop.step = step;
  here().CreateBr(loop.body);
  Scope body;
  body.block = loop.body;
  scopes_.push_back(std::move(body));
  loop.index = here().CreatePHI(begin->getType(), 2, name);
  loop.index->addIncoming(begin, loop.preheader);
  return loop;
}

llvm::PHINode* Scopes::carry(const OpenLoop& loop, llvm::Value* initial, const std::string& name) {
  builder_.SetInsertPoint(loop.body, loop.body->getFirstNonPHIIt());
  llvm::PHINode* phi = builder_.CreatePHI(initial->getType(), 2, name);
  phi->addIncoming(initial, loop.preheader);
  return phi;
}

void Scopes::close(const OpenLoop& loop, const std::vector<std::pair<llvm::PHINode*, llvm::Value*>>& carried) {
  Builder& builder = here();
  llvm::BasicBlock* latch = builder.GetInsertBlock();
  llvm::Value* next = builder.CreateAdd(loop.index, llvm::ConstantInt::getSigned(loop.index->getType(), loop.step));
  llvm::Value* more = builder.CreateICmpNE(next, loop.end);
  auto* exit = llvm::BasicBlock::Create(unit_->context(), loop.body->getName() + ".end", function_);
  builder.CreateCondBr(more, loop.body, exit);
  loop.index->addIncoming(next, latch);
  for (const auto& [phi, value] : carried) phi->addIncoming(value, latch);
  scopes_.pop_back();
  (*this)[innermost()].block = exit;
}

llvm::Value* Scopes::splat(llvm::Value* value, int scope) {
  llvm::Value*& splat = (*this)[scope].splats[value];
  if (splat == nullptr) splat = at(scope).CreateVectorSplat(static_cast<unsigned>(unit_->lanes), value);
  return splat;
}

llvm::Value* Scopes::splat(const Element& element) {
  return element.vector ? element.value : splat(element.value, element.scope);
}

}  // namespace cellfuse::cpu
