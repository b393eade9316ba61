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

  /// The rows in as few calls as their strides allow.
  void generated_call() {
    check_internal(gemm_.kind == GemmKind::Linear && buffer(gemm_.b).order == Order::Panels, "codegen/cpu",
                   "an emitted product needs a matrix in panels");
    llvm::Function* product = panel_product(unit_, gemm_);
    Builder& b = scopes_.here();
    const std::int64_t units = gemm_.rows_per_unit;
    llvm::Value* a_row = a_.batch_stride;
    llvm::Value* c_row = c_.batch_stride;
    llvm::Value* samples = samples_;
    llvm::Value* rows = samples_;
    if (units == 1) {
      samples = unit_.number(1);
    } else {
      // Samples follow one another without a gap, or are products of their own.
      a_row = unit_.number(gemm_.k * unit_.real_bytes());
      c_row = unit_.number(gemm_.n * unit_.real_bytes());
      llvm::Value* dense = b.CreateAnd(b.CreateICmpEQ(a_.batch_stride, b.CreateMul(a_row, unit_.number(units))),
                                       b.CreateICmpEQ(c_.batch_stride, b.CreateMul(c_row, unit_.number(units))));
      rows = b.CreateSelect(dense, b.CreateMul(samples_, unit_.number(units)), unit_.number(units));
      samples = b.CreateSelect(dense, unit_.number(1), samples_);
    }
    llvm::Value* steps = steps_;
    if (step_ == nullptr) {
      llvm::Value* dense = b.CreateAnd(b.CreateICmpEQ(a_.time_stride, b.CreateMul(a_row, rows)),
                                       b.CreateICmpEQ(c_.time_stride, b.CreateMul(c_row, rows)));
      dense = b.CreateAnd(dense, b.CreateICmpEQ(samples, unit_.number(1)));
      rows = b.CreateSelect(dense, b.CreateMul(rows, steps), rows);
      steps = b.CreateSelect(dense, unit_.number(1), steps);
    }
    OpenLoop time = scopes_.open(unit_.number(0), steps, 1, "step");
    OpenLoop sample = scopes_.open(unit_.number(0), samples, 1, "sample");
    auto at = [&](const Operand& operand) {
      Builder& here = scopes_.here();
      llvm::Value* offset = here.CreateAdd(here.CreateMul(time.index, operand.time_stride),
                                           here.CreateMul(sample.index, operand.batch_stride));
      return here.CreateGEP(here.getInt8Ty(), operand.data, offset);
    };
    llvm::Value* a_data = at(a_);
    llvm::Value* c_data = at(c_);
    scopes_.here().CreateCall(product, {a_data, a_row, b_.data, c_data, c_row, rows});
    scopes_.close(sample);
    scopes_.close(time);
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
