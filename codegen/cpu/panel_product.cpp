// The emitted product with a matrix in panels. A tile of rows times one panel is kept in registers while k runs: each
// element of `a` is spread over a vector and multiplied with the vectors of the panel. A single row takes several
// panels at once, so that enough sums are under way to hide the latency of one.

#include <algorithm>
#include <string>

#include "codegen/cpu/stages.h"
#include "codegen/cpu/tile.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

class PanelProduct {
 public:
  PanelProduct(const Unit& unit, const Gemm& gemm, const Buffer& matrix, llvm::Function* function)
      : unit_(unit),
        emitter_(unit, function),
        b_(emitter_.builder()),
        accumulate_(gemm.accumulate),
        n_(gemm.n),
        k_(gemm.k),
        width_(matrix.panel),
        vectors_(matrix.panel / unit.lanes),
        a_(emitter_.argument(0, "a")),
        a_row_(emitter_.argument(1, "a_row")),
        w_(emitter_.argument(2, "panels")),
        c_(emitter_.argument(3, "c")),
        c_row_(emitter_.argument(4, "c_row")),
        rows_(emitter_.argument(5, "rows")) {}

  void run() {
    llvm::BasicBlock* many = emitter_.block("many");
    llvm::BasicBlock* one = emitter_.block("one");
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

  std::int64_t largest_tile() const {
    const std::int64_t registers = unit_.machine.vector_bytes == 64 ? 32 : 16;
    std::int64_t height = 1;
    while (2 * height * vectors_ + vectors_ < registers && height < 8) height *= 2;
    return height;
  }

  /// `body(first panel, columns of c from there on)`, all panels, `together` at a time.
  template <typename Body>
  void over_panels(std::int64_t together, Body body) {
    const std::int64_t full = n_ / width_;
    const std::int64_t grouped = full / together * together;
    if (grouped > 0) {
      emitter_.loop(unit_.number(0), unit_.number(grouped), together, "panel",
                    [&](llvm::Value* panel) { body(panel, together * width_); });
    }
    if (full > grouped) {
      emitter_.loop(unit_.number(grouped), unit_.number(full), 1, "panel",
                    [&](llvm::Value* panel) { body(panel, width_); });
    }
    if (full * width_ < n_) body(unit_.number(full), n_ - full * width_);
  }

  /// Tiles of falling height.
  void over_rows(llvm::Value* panel, std::int64_t n) {
    llvm::Value* done = unit_.number(0);
    for (std::int64_t height = largest_tile(); height >= 1; height /= 2) {
      const std::string name = "rows" + std::to_string(height);
      llvm::BasicBlock* before = b_.GetInsertBlock();
      llvm::BasicBlock* inside = emitter_.block(name);
      llvm::BasicBlock* after = emitter_.block(name + ".end");
      llvm::Value* whole = b_.CreateAnd(rows_, unit_.number(-height));
      b_.CreateCondBr(b_.CreateICmpSLT(done, whole), inside, after);
      b_.SetInsertPoint(inside);
      llvm::PHINode* row = b_.CreatePHI(unit_.i64(), 2, "row");
      row->addIncoming(done, before);
      tile(emitter_.bytes_from(a_, b_.CreateMul(row, a_row_)), emitter_.bytes_from(c_, b_.CreateMul(row, c_row_)),
           panel, height, n);
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

  /// `height` rows times the panels from `panel` on, into the first `n` columns of c from there on.
  void tile(llvm::Value* a, llvm::Value* c, llvm::Value* panel, std::int64_t height, std::int64_t n) {
    const std::int64_t bytes = unit_.real_bytes();
    const std::int64_t count = (n + unit_.lanes - 1) / unit_.lanes;
    Tile tile;
    tile.row_step = bytes;
    tile.w = emitter_.bytes_from(w_, b_.CreateMul(panel, unit_.number(k_ * width_ * bytes)));
    tile.w_step = width_ * bytes;
    for (std::int64_t v = 0; v < count; ++v) {
      tile.vectors.push_back((v / vectors_ * k_ * width_ + v % vectors_ * unit_.lanes) * bytes);
    }
    for (std::int64_t row = 0; row < height; ++row) {
      tile.rows.push_back(emitter_.bytes_from(a, b_.CreateMul(a_row_, unit_.number(row))));
    }
    tile.steps = unit_.number(k_);
    // More where there is little in each.
    tile.unroll = height * count <= 8 ? 4 : (height * count <= 16 ? 2 : 1);
    while (k_ % tile.unroll != 0) tile.unroll /= 2;

    llvm::Value* column = emitter_.bytes_from(c, b_.CreateMul(panel, unit_.number(width_ * bytes)));
    const std::vector<llvm::Value*> sums = emitter_.sums(tile);
    for (std::int64_t row = 0; row < height; ++row) {
      llvm::Value* to = emitter_.bytes_from(column, b_.CreateMul(c_row_, unit_.number(row)));
      for (std::int64_t v = 0; v < count; ++v) {
        emitter_.put(sums[static_cast<std::size_t>(row * count + v)], emitter_.bytes_from(to, v * unit_.lanes * bytes),
                     n - v * unit_.lanes, accumulate_);
      }
    }
  }

  const Unit& unit_;
  TileEmitter emitter_;
  Builder& b_;
  bool accumulate_;
  std::int64_t n_;
  std::int64_t k_;
  std::int64_t width_;
  std::int64_t vectors_;
  llvm::Value* a_;
  llvm::Value* a_row_;
  llvm::Value* w_;
  llvm::Value* c_;
  llvm::Value* c_row_;
  llvm::Value* rows_;
};

}  // namespace

llvm::Function* panel_product(Unit& unit, const Gemm& gemm) {
  const Buffer& matrix = unit.plan.buffers[static_cast<std::size_t>(gemm.b)];
  check_internal(matrix.order == Order::Panels && matrix.panel > 0 && matrix.panel % unit.lanes == 0, "codegen/cpu",
                 "an emitted product needs a matrix in panels of whole vectors");
  const std::string name = unit.plan.name + ".panel_product." + std::to_string(gemm.n) + "x" + std::to_string(gemm.k) +
                           "." + std::to_string(matrix.panel) + (gemm.accumulate ? ".add" : "");
  if (llvm::Function* made = unit.module.getFunction(name)) return made;
  llvm::Type* pointer = unit.pointer();
  llvm::Type* i64 = unit.i64();
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(unit.context()), {pointer, i64, pointer, pointer, i64, i64}, false);
  llvm::Function* function = unit.function(name, type, true);
  PanelProduct(unit, gemm, matrix, function).run();
  unit.comment(function, "c[rows, n] = a[rows, k] times a matrix in panels");
  return function;
}

}  // namespace cellfuse::cpu
