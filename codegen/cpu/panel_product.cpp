// The emitted matrix product. A tile of rows times one panel is kept in registers while k runs: each element of `a` is
// spread over a vector and multiplied with the vectors of the panel. A few rows take several panels at once, so that
// enough sums are under way to hide the latency of one.

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>
#include <string>

#include "codegen/cpu/scopes.h"
#include "codegen/cpu/stages.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

class PanelProduct {
 public:
  PanelProduct(Unit& unit, const Gemm& gemm, const Buffer& matrix, llvm::Function* function)
      : unit_(unit),
        accumulate_(gemm.accumulate),
        n_(gemm.n),
        k_(gemm.k),
        width_(matrix.panel),
        vectors_(matrix.panel / unit.lanes),
        function_(function),
        b_(llvm::BasicBlock::Create(unit.context(), "entry", function)) {
    allow_contraction(b_);
    a_ = argument(0, "a");
    a_row_ = argument(1, "a_row");
    w_ = argument(2, "panels");
    c_ = argument(3, "c");
    c_row_ = argument(4, "c_row");
    rows_ = argument(5, "rows");
  }

  void run() {
    const std::int64_t registers = unit_.machine.vector_bytes == 64 ? 32 : 16;
    largest_tile_ = 1;
    while (2 * largest_tile_ * vectors_ + vectors_ < registers && largest_tile_ < 8) largest_tile_ *= 2;
    llvm::BasicBlock* many = block("many");
    llvm::BasicBlock* one = block("one");
    b_.CreateCondBr(b_.CreateICmpEQ(rows_, unit_.number(1)), one, many);
    b_.SetInsertPoint(one);
    over_panels(std::max<std::int64_t>(1, kSumsUnderWay / vectors_),
                [&](llvm::Value* panel, std::int64_t n) { tile(a_, c_, panel, 1, n); });
    b_.CreateRetVoid();
    b_.SetInsertPoint(many);
    over_panels(1, [&](llvm::Value* panel, std::int64_t n) { over_rows(panel, n); });
    b_.CreateRetVoid();
  }

 private:
  static constexpr std::int64_t kSumsUnderWay = 8;

  llvm::Value* argument(unsigned index, const char* name) {
    function_->getArg(index)->setName(name);
    return function_->getArg(index);
  }

  llvm::BasicBlock* block(const std::string& name) {
    return llvm::BasicBlock::Create(unit_.context(), name, function_);
  }

  llvm::Value* bytes_from(llvm::Value* pointer, llvm::Value* bytes) {
    return b_.CreateGEP(b_.getInt8Ty(), pointer, bytes);
  }

  /// `for (i = begin; i != end; i += step)`, at least once; `body` gets i.
  template <typename Body>
  void loop(llvm::Value* begin, llvm::Value* end, std::int64_t step, const char* name, Body body) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* inside = block(name);
    llvm::BasicBlock* after = block(std::string(name) + ".end");
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

  /// `body(first panel, columns of c from there on)`, all panels, `together` at a time.
  template <typename Body>
  void over_panels(std::int64_t together, Body body) {
    const std::int64_t full = n_ / width_;
    const std::int64_t grouped = full / together * together;
    if (grouped > 0) {
      loop(unit_.number(0), unit_.number(grouped), together, "panel",
           [&](llvm::Value* panel) { body(panel, together * width_); });
    }
    if (full > grouped) {
      loop(unit_.number(grouped), unit_.number(full), 1, "panel", [&](llvm::Value* panel) { body(panel, width_); });
    }
    if (full * width_ < n_) body(unit_.number(full), n_ - full * width_);
  }

  /// Tiles of falling height.
  void over_rows(llvm::Value* panel, std::int64_t n) {
    llvm::Value* done = unit_.number(0);
    for (std::int64_t height = largest_tile_; height >= 1; height /= 2) {
      llvm::BasicBlock* before = b_.GetInsertBlock();
      llvm::BasicBlock* inside = block("rows" + std::to_string(height));
      llvm::BasicBlock* after = block("rows" + std::to_string(height) + ".end");
      llvm::Value* whole = b_.CreateAnd(rows_, unit_.number(-height));
      b_.CreateCondBr(b_.CreateICmpSLT(done, whole), inside, after);
      b_.SetInsertPoint(inside);
      llvm::PHINode* row = b_.CreatePHI(unit_.i64(), 2, "row");
      row->addIncoming(done, before);
      tile(bytes_from(a_, b_.CreateMul(row, a_row_)), bytes_from(c_, b_.CreateMul(row, c_row_)), panel, height, n);
      llvm::Value* next = b_.CreateAdd(row, unit_.number(height));
      llvm::BasicBlock* latch = b_.GetInsertBlock();
      b_.CreateCondBr(b_.CreateICmpSLT(next, whole), inside, after);
      row->addIncoming(next, latch);
      b_.SetInsertPoint(after);
      llvm::PHINode* so_far = b_.CreatePHI(unit_.i64(), 2, "done");
      so_far->addIncoming(done, before);
      so_far->addIncoming(next, latch);
      done = so_far;
    }
  }

  /// Steps of k in one round of the loop: more where there is little in each.
  std::int64_t unrolled(std::int64_t height, std::int64_t sums) const {
    std::int64_t steps = height * sums <= 8 ? 4 : (height * sums <= 16 ? 2 : 1);
    while (k_ % steps != 0) steps /= 2;
    return steps;
  }

  /// `height` rows times the panels from `panel` on, into the first `n` columns of c from there on.
  void tile(llvm::Value* a, llvm::Value* c, llvm::Value* panel, std::int64_t height, std::int64_t n) {
    const std::int64_t bytes = unit_.real_bytes();
    const std::int64_t sums = (n + unit_.lanes - 1) / unit_.lanes;
    llvm::Value* w = bytes_from(w_, b_.CreateMul(panel, unit_.number(k_ * width_ * bytes)));
    std::vector<llvm::Value*> a_rows;
    std::vector<llvm::Value*> c_rows;
    llvm::Value* column = bytes_from(c, b_.CreateMul(panel, unit_.number(width_ * bytes)));
    for (std::int64_t row = 0; row < height; ++row) {
      a_rows.push_back(bytes_from(a, b_.CreateMul(a_row_, unit_.number(row))));
      c_rows.push_back(bytes_from(column, b_.CreateMul(c_row_, unit_.number(row))));
    }
    std::vector<llvm::Value*> total = sum_over_k(w, a_rows, sums);
    for (std::size_t row = 0; row < a_rows.size(); ++row) {
      for (std::int64_t v = 0; v < sums; ++v) {
        const std::int64_t live = std::min<std::int64_t>(unit_.lanes, n - v * unit_.lanes);
        put(total[row * static_cast<std::size_t>(sums) + static_cast<std::size_t>(v)],
            bytes_from(c_rows[row], unit_.number(v * unit_.lanes * bytes)), live);
      }
    }
  }

  std::vector<llvm::Value*> sum_over_k(llvm::Value* w, const std::vector<llvm::Value*>& a_rows, std::int64_t sums) {
    llvm::Type* vector = unit_.vector(unit_.real);
    const std::int64_t steps = unrolled(static_cast<std::int64_t>(a_rows.size()), sums);
    const llvm::Align align(static_cast<std::uint64_t>(unit_.real_bytes()));
    llvm::BasicBlock* before = b_.GetInsertBlock();
    std::vector<llvm::PHINode*> phis;
    std::vector<llvm::Value*> total;
    loop(unit_.number(0), unit_.number(k_), steps, "k", [&](llvm::Value* k) {
      for (std::size_t i = 0; i < a_rows.size() * static_cast<std::size_t>(sums); ++i) {
        phis.push_back(b_.CreatePHI(vector, 2, "sum"));
        phis.back()->addIncoming(llvm::Constant::getNullValue(vector), before);
        total.push_back(phis.back());
      }
      for (std::int64_t step = 0; step < steps; ++step) {
        llvm::Value* at = step == 0 ? k : b_.CreateAdd(k, unit_.number(step));
        std::vector<llvm::Value*> columns;
        for (std::int64_t v = 0; v < sums; ++v)
          columns.push_back(b_.CreateAlignedLoad(vector, weight(w, at, v), align));
        for (std::size_t row = 0; row < a_rows.size(); ++row) {
          llvm::Value* element = b_.CreateAlignedLoad(unit_.real, b_.CreateGEP(unit_.real, a_rows[row], at), align);
          llvm::Value* spread = b_.CreateVectorSplat(static_cast<unsigned>(unit_.lanes), element);
          for (std::size_t v = 0; v < columns.size(); ++v) {
            llvm::Value*& sum = total[row * columns.size() + v];
            sum = b_.CreateIntrinsic(vector, llvm::Intrinsic::fmuladd, {spread, columns[v], sum});
          }
        }
      }
      for (std::size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(total[i], b_.GetInsertBlock());
    });
    return total;
  }

  /// Vector `v` of the columns that begin at panel `w`, for one k.
  llvm::Value* weight(llvm::Value* w, llvm::Value* k, std::int64_t v) {
    const std::int64_t panel = v / vectors_;
    const std::int64_t offset = panel * k_ * width_ + v % vectors_ * unit_.lanes;
    llvm::Value* row = b_.CreateGEP(unit_.real, w, b_.CreateMul(k, unit_.number(width_)));
    return b_.CreateGEP(unit_.real, row, unit_.number(offset));
  }

  void put(llvm::Value* sum, llvm::Value* pointer, std::int64_t live) {
    const llvm::Align align(static_cast<std::uint64_t>(unit_.real_bytes()));
    llvm::Type* vector = sum->getType();
    if (live == unit_.lanes) {
      if (accumulate_) sum = b_.CreateFAdd(b_.CreateAlignedLoad(vector, pointer, align), sum);
      b_.CreateAlignedStore(sum, pointer, align);
      return;
    }
    std::vector<llvm::Constant*> bits;
    for (int lane = 0; lane < unit_.lanes; ++lane) bits.push_back(b_.getInt1(lane < live));
    llvm::Constant* mask = llvm::ConstantVector::get(bits);
    if (accumulate_) {
      llvm::Value* old = b_.CreateMaskedLoad(vector, pointer, align, mask, llvm::Constant::getNullValue(vector));
      sum = b_.CreateFAdd(old, sum);
    }
    b_.CreateMaskedStore(sum, pointer, align, mask);
  }

  Unit& unit_;
  bool accumulate_;
  std::int64_t n_;
  std::int64_t k_;
  std::int64_t width_;
  std::int64_t vectors_;
  std::int64_t largest_tile_ = 1;
  llvm::Function* function_;
  Builder b_;
  llvm::Value* a_ = nullptr;
  llvm::Value* a_row_ = nullptr;
  llvm::Value* w_ = nullptr;
  llvm::Value* c_ = nullptr;
  llvm::Value* c_row_ = nullptr;
  llvm::Value* rows_ = nullptr;
};

}  // namespace

llvm::Function* panel_product(Unit& unit, const Gemm& gemm) {
  const Buffer& matrix = unit.plan.buffers[static_cast<std::size_t>(gemm.b)];
  check_internal(matrix.panel > 0 && matrix.panel % unit.lanes == 0, "codegen/cpu", "a panel is not whole vectors");
  const std::string name = unit.plan.name + ".panel_product." + std::to_string(gemm.n) + "x" + std::to_string(gemm.k) +
                           "." + std::to_string(matrix.panel) + (gemm.accumulate ? ".add" : "");
  if (llvm::Function* made = unit.module.getFunction(name)) return made;
  llvm::Type* pointer = unit.pointer();
  llvm::Type* i64 = unit.i64();
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(unit.context()), {pointer, i64, pointer, pointer, i64, i64}, false);
  llvm::Function* function = unit.function(name, type, true);
  PanelProduct(unit, gemm, matrix, function).run();
  return function;
}

}  // namespace cellfuse::cpu
