// Matrix products: a call of the library, or of an emitted function for rows at equal distances.

#include <array>
#include <cstddef>

#include "codegen/cpu/gemm_call.h"
#include "codegen/cpu/scopes.h"
#include "codegen/cpu/stages.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

static_assert(sizeof(GemmCall) == 17 * 8 && offsetof(GemmCall, steps) == 9 * 8);

class GemmEmitter {
 public:
  GemmEmitter(Unit& unit, const Gemm& gemm, llvm::Function* function, bool in_loop)
      : unit_(unit),
        gemm_(gemm),
        frame_(unit, function->getArg(0)),
        step_(in_loop ? function->getArg(1) : nullptr),
        scopes_(unit, function) {}

  void run() {
    const Buffer& a = buffer(gemm_.a);
    Builder& b = scopes_.here();
    steps_ = a.time && step_ == nullptr ? frame_.steps(b) : unit_.number(1);
    samples_ = a.batch ? frame_.samples(b) : unit_.number(1);
    a_ = operand(gemm_.a);
    b_ = operand(gemm_.b);
    c_ = operand(gemm_.c);
    if (gemm_.code == GemmCode::Library) {
      library_call();
    } else {
      generated_call();
    }
    scopes_.here().CreateRetVoid();
  }

 private:
  struct Operand {
    llvm::Value* data = nullptr;
    llvm::Value* time_stride = nullptr;
    llvm::Value* batch_stride = nullptr;
  };

  const Buffer& buffer(int id) const { return unit_.plan.buffers[static_cast<std::size_t>(id)]; }

  Operand operand(int id) {
    const Buffer& buffer = this->buffer(id);
    check_internal(buffer.dtype == unit_.compute, "codegen/cpu", "a product's operand is not in the compute type");
    Builder& b = scopes_.here();
    Operand operand{frame_.data(b, id), unit_.number(0), unit_.number(0)};
    if (buffer.time) {
      llvm::Value* stride = frame_.time_stride(b, id);
      if (step_ != nullptr) {
        operand.data = b.CreateGEP(b.getInt8Ty(), operand.data, b.CreateMul(step_, stride));
      } else {
        operand.time_stride = stride;
      }
    }
    if (buffer.batch) operand.batch_stride = frame_.batch_stride(b, id);
    return operand;
  }

  void library_call() {
    check_internal(buffer(gemm_.b).order != Order::Panels, "codegen/cpu", "the library reads no panels");
    Builder& b = scopes_.here();
    const bool outer = gemm_.kind == GemmKind::Outer;
    const std::array<llvm::Value*, 17> fields{a_.data,
                                              a_.time_stride,
                                              a_.batch_stride,
                                              b_.data,
                                              b_.time_stride,
                                              b_.batch_stride,
                                              c_.data,
                                              c_.time_stride,
                                              c_.batch_stride,
                                              steps_,
                                              samples_,
                                              unit_.number(gemm_.rows_per_unit),
                                              unit_.number(gemm_.n),
                                              unit_.number(gemm_.k),
                                              unit_.number(outer ? 1 : 0),
                                              unit_.number(gemm_.contract_rows ? 1 : 0),
                                              unit_.number(gemm_.accumulate ? 1 : 0)};
    llvm::Value* call = b.CreateAlloca(unit_.i64(), unit_.number(fields.size()), "call");
    for (std::size_t i = 0; i < fields.size(); ++i) {
      b.CreateStore(fields[i], b.CreateConstInBoundsGEP1_64(unit_.i64(), call, i));
    }
    auto* type = llvm::FunctionType::get(b.getVoidTy(), {unit_.pointer()}, false);
    b.CreateCall(unit_.external(unit_.compute == DType::Float64 ? kGemmFloat64 : kGemmFloat32, type), {call});
  }

  /// An axis of the rows: how many, and their distances in a and c.
  struct Axis {
    llvm::Value* count = nullptr;
    llvm::Value* a = nullptr;
    llvm::Value* c = nullptr;
  };

  Axis select(llvm::Value* condition, const Axis& yes, const Axis& no) {
    Builder& b = scopes_.here();
    return {b.CreateSelect(condition, yes.count, no.count), b.CreateSelect(condition, yes.a, no.a),
            b.CreateSelect(condition, yes.c, no.c)};
  }

  /// Makes one axis of two where the outer goes on where the inner ends, or one of them has a single row.
  void merge(Axis& outer, Axis& inner) {
    Builder& b = scopes_.here();
    const Axis nothing{unit_.number(1), unit_.number(0), unit_.number(0)};
    llvm::Value* single = b.CreateICmpEQ(inner.count, unit_.number(1));
    llvm::Value* goes_on = b.CreateAnd(b.CreateICmpEQ(outer.a, b.CreateMul(inner.a, inner.count)),
                                       b.CreateICmpEQ(outer.c, b.CreateMul(inner.c, inner.count)));
    llvm::Value* one = b.CreateOr(b.CreateOr(single, b.CreateICmpEQ(outer.count, unit_.number(1))), goes_on);
    Axis merged = select(single, outer, inner);
    merged.count = b.CreateMul(inner.count, outer.count);
    inner = select(one, merged, inner);
    outer = select(one, nothing, outer);
  }

  /// The rows in few calls: one where they lie at equal distances, otherwise along the longer of steps and samples.
  void generated_call() {
    check_internal(gemm_.kind == GemmKind::Linear, "codegen/cpu", "sums of outer products are the library's");
    llvm::Function* product = panel_product(unit_, gemm_);
    const std::int64_t bytes = unit_.real_bytes();
    Axis rows{unit_.number(gemm_.rows_per_unit), unit_.number(gemm_.k * bytes), unit_.number(gemm_.n * bytes)};
    Axis samples{samples_, a_.batch_stride, c_.batch_stride};
    Axis steps{steps_, a_.time_stride, c_.time_stride};
    merge(samples, rows);
    merge(steps, samples);
    merge(samples, rows);
    llvm::Value* longer = scopes_.here().CreateICmpSGT(samples.count, rows.count);
    const Axis inner = select(longer, samples, rows);
    const Axis middle = select(longer, rows, samples);

    OpenLoop outer_loop = scopes_.open(unit_.number(0), steps.count, 1, "step");
    OpenLoop middle_loop = scopes_.open(unit_.number(0), middle.count, 1, "row");
    auto at = [&](llvm::Value* data, llvm::Value* by_step, llvm::Value* by_row) {
      Builder& here = scopes_.here();
      llvm::Value* offset =
          here.CreateAdd(here.CreateMul(outer_loop.index, by_step), here.CreateMul(middle_loop.index, by_row));
      return here.CreateGEP(here.getInt8Ty(), data, offset);
    };
    llvm::Value* a_data = at(a_.data, steps.a, middle.a);
    llvm::Value* c_data = at(c_.data, steps.c, middle.c);
    scopes_.here().CreateCall(product, {a_data, inner.a, b_.data, c_data, inner.c, inner.count});
    scopes_.close(middle_loop);
    scopes_.close(outer_loop);
  }

  Unit& unit_;
  const Gemm& gemm_;
  FrameFields frame_;
  llvm::Value* step_;
  Scopes scopes_;
  llvm::Value* steps_ = nullptr;
  llvm::Value* samples_ = nullptr;
  Operand a_;
  Operand b_;
  Operand c_;
};

}  // namespace

llvm::Function* emit_gemm(Unit& unit, const Gemm& gemm, const std::string& name, bool in_loop) {
  std::vector<llvm::Type*> arguments{unit.pointer()};
  if (in_loop) arguments.push_back(unit.i64());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(unit.context()), arguments, false);
  llvm::Function* function = unit.function(name, type, true);
  function->getArg(0)->setName("frame");
  if (in_loop) function->getArg(1)->setName("step");
  GemmEmitter(unit, gemm, function, in_loop).run();
  return function;
}

}  // namespace cellfuse::cpu
