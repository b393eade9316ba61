#include "codegen/cpu/tile.h"

#include <llvm/IR/Intrinsics.h>

namespace cellfuse::cpu {

TileEmitter::TileEmitter(const Unit& unit, llvm::Function* function)
    : unit_(unit), function_(function), b_(llvm::BasicBlock::Create(unit.context(), "entry", function)) {
  allow_contraction(b_);
}

llvm::BasicBlock* TileEmitter::block(const std::string& name) {
  return llvm::BasicBlock::Create(unit_.context(), name, function_);
}

llvm::Value* TileEmitter::argument(unsigned index, const char* name) {
  function_->getArg(index)->setName(name);
  return function_->getArg(index);
}

llvm::Value* TileEmitter::bytes_from(llvm::Value* pointer, llvm::Value* bytes) {
  return b_.CreateGEP(b_.getInt8Ty(), pointer, bytes);
}

llvm::Value* TileEmitter::bytes_from(llvm::Value* pointer, std::int64_t bytes) {
  return bytes_from(pointer, unit_.number(bytes));
}

void TileEmitter::loop(llvm::Value* begin, llvm::Value* end, std::int64_t step, const std::string& name,
                       const std::function<void(llvm::Value*)>& body) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* inside = block(name);
  llvm::BasicBlock* after = block(name + ".end");
  b_.CreateBr(inside);
  b_.SetInsertPoint(inside);
  llvm::PHINode* i = b_.CreatePHI(unit_.i64(), 2, name);
  i->addIncoming(begin, before);
  body(i);
  llvm::Value* next = b_.CreateAdd(i, unit_.number(step));
  b_.CreateCondBr(b_.CreateICmpNE(next, end), inside, after);
  i->addIncoming(next, b_.GetInsertBlock());
  b_.SetInsertPoint(after);
}

std::vector<llvm::Value*> TileEmitter::sums(const Tile& tile) {
  llvm::Type* vector = unit_.vector(unit_.real);
  const llvm::Align align(static_cast<std::uint64_t>(unit_.real_bytes()));
  llvm::BasicBlock* before = b_.GetInsertBlock();
  std::vector<llvm::PHINode*> phis;
  std::vector<llvm::Value*> sums;
  loop(unit_.number(0), tile.steps, tile.unroll, "k", [&](llvm::Value* first) {
    for (std::size_t i = 0; i < tile.rows.size() * tile.vectors.size(); ++i) {
      phis.push_back(b_.CreatePHI(vector, 2, "sum"));
      phis.back()->addIncoming(llvm::Constant::getNullValue(vector), before);
      sums.push_back(phis.back());
    }
    for (std::int64_t i = 0; i < tile.unroll; ++i) {
      llvm::Value* step = i == 0 ? first : b_.CreateAdd(first, unit_.number(i));
      llvm::Value* w = bytes_from(tile.w, b_.CreateMul(step, unit_.number(tile.w_step)));
      llvm::Value* along = b_.CreateMul(step, unit_.number(tile.row_step));
      std::vector<llvm::Value*> columns;
      for (std::int64_t offset : tile.vectors)
        columns.push_back(b_.CreateAlignedLoad(vector, bytes_from(w, offset), align));
      for (std::size_t row = 0; row < tile.rows.size(); ++row) {
        llvm::Value* element = b_.CreateAlignedLoad(unit_.real, bytes_from(tile.rows[row], along), align);
        llvm::Value* spread = b_.CreateVectorSplat(static_cast<unsigned>(unit_.lanes), element);
        for (std::size_t v = 0; v < columns.size(); ++v) {
          llvm::Value*& sum = sums[row * columns.size() + v];
          sum = b_.CreateIntrinsic(vector, llvm::Intrinsic::fmuladd, {spread, columns[v], sum});
        }
      }
    }
    for (std::size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(sums[i], b_.GetInsertBlock());
  });
  return sums;
}

llvm::Value* TileEmitter::first_lanes(std::int64_t live) {
  if (live >= unit_.lanes) return nullptr;
  std::vector<llvm::Constant*> bits;
  for (int lane = 0; lane < unit_.lanes; ++lane) bits.push_back(b_.getInt1(lane < live));
  return llvm::ConstantVector::get(bits);
}

void TileEmitter::put(llvm::Value* sum, llvm::Value* pointer, std::int64_t live, bool add) {
  const llvm::Align align(static_cast<std::uint64_t>(unit_.real_bytes()));
  llvm::Type* vector = sum->getType();
  llvm::Value* mask = first_lanes(live);
  if (mask == nullptr) {
    if (add) sum = b_.CreateFAdd(b_.CreateAlignedLoad(vector, pointer, align), sum);
    b_.CreateAlignedStore(sum, pointer, align);
    return;
  }
  if (add) {
    sum = b_.CreateFAdd(b_.CreateMaskedLoad(vector, pointer, align, mask, llvm::Constant::getNullValue(vector)), sum);
  }
  b_.CreateMaskedStore(sum, pointer, align, mask);
}

}  // namespace cellfuse::cpu
