#include "codegen/cpu/emit.h"

#include "codegen/cpu/kernel.h"
#include "codegen/cpu/stages.h"
#include "codegen/cpu/unit.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

/// Functions that call one another: entries call stages and loops, loops call their stages.
class PlanEmitter {
 public:
  explicit PlanEmitter(Unit& unit) : unit_(unit) {}

  void run() {
    const Plan& plan = unit_.plan;
    const std::vector<Stage>* lists[] = {&plan.once, &plan.begin, &plan.chunk, &plan.end, &plan.finish};
    for (std::size_t i = 0; i < std::size(kEntries); ++i) entry(kEntries[i], *lists[i]);
  }

 private:
  llvm::FunctionType* frame_function() const {
    return llvm::FunctionType::get(llvm::Type::getVoidTy(unit_.context()), {unit_.pointer()}, false);
  }

  void entry(const std::string& which, const std::vector<Stage>& stages) {
    std::vector<llvm::Function*> parts;
    for (const Stage& stage : stages) {
      if (llvm::Function* part = this->stage(stage, false)) parts.push_back(part);
    }
    llvm::Function* function = unit_.function(entry_name(unit_.plan, which.c_str()), frame_function(), false);
    llvm::Value* frame = function->getArg(0);
    frame->setName("frame");
    Builder b(llvm::BasicBlock::Create(unit_.context(), "entry", function));
    FrameFields fields(unit_, frame);
    // Rows are counted from 1 on everywhere else.
    llvm::Value* rows = nullptr;
    if (which == "begin" || which == "end") rows = fields.samples(b);
    if (which == "chunk") rows = b.CreateMul(fields.samples(b), fields.steps(b));
    if (rows != nullptr) {
      auto* work = llvm::BasicBlock::Create(unit_.context(), "work", function);
      auto* nothing = llvm::BasicBlock::Create(unit_.context(), "nothing", function);
      b.CreateCondBr(b.CreateICmpEQ(rows, unit_.number(0)), nothing, work);
      b.SetInsertPoint(nothing);
      b.CreateRetVoid();
      b.SetInsertPoint(work);
    }
    for (llvm::Function* part : parts) b.CreateCall(part, {frame});
    b.CreateRetVoid();
  }

  std::string name_of(const std::string& stage) const { return unit_.plan.name + "." + stage; }

  const std::string& buffer(int id) const { return unit_.plan.buffers[static_cast<std::size_t>(id)].name; }

  /// Null where there is nothing to do.
  llvm::Function* stage(const Stage& stage, bool in_loop) {
    llvm::Function* function = nullptr;
    std::string comment;
    if (const auto* kernel = std::get_if<Kernel>(&stage)) {
      function = KernelEmitter::emit(unit_, *kernel, name_of(kernel->name), in_loop);
      comment = describe(*kernel);
    } else if (const auto* gemm = std::get_if<Gemm>(&stage)) {
      function = emit_gemm(unit_, *gemm, name_of(gemm->name), in_loop);
      comment = "product: " + buffer(gemm->c) + " from " + buffer(gemm->a) + " and " + buffer(gemm->b);
    } else if (const auto* pack = std::get_if<Pack>(&stage)) {
      check_internal(!in_loop, "codegen/cpu", "a matrix is packed in a loop");
      function = emit_pack(unit_, *pack, name_of("pack." + buffer(pack->to)));
      comment = "copy of " + buffer(pack->from) + " into the layout of " + buffer(pack->to);
    } else if (const auto* loop = std::get_if<TimeLoop>(&stage)) {
      check_internal(!in_loop, "codegen/cpu", "a loop over time in a loop over time");
      function = time_loop(*loop);
      comment = std::string("loop over the steps, ") + (loop->backward ? "backward, " : "") +
                std::string(name(loop->strategy));
    }
    // Nothing for an exchange: one thread has all of its samples.
    if (function != nullptr) unit_.comment(function, comment);
    return function;
  }

  std::string describe(const Kernel& kernel) const {
    const char* rows[] = {"once", "for each sample", "for each sample and step"};
    std::string text = std::string("kernel, ") + rows[static_cast<std::size_t>(kernel.domain)] + ":";
    for (const Nest& nest : kernel.nests) {
      const char* kinds[] = {" map ", " reduce ", " running sum "};
      text += kinds[static_cast<std::size_t>(nest.kind)] + nest.space.str() + ";";
    }
    std::string stored;
    for (const Store& store : kernel.stores) {
      const std::string& name = buffer(store.buffer);
      if (stored.find(" " + name + ",") == std::string::npos) stored += " " + name + ",";
    }
    if (!stored.empty()) stored.pop_back();
    return text + " makes" + stored;
  }

  llvm::Function* time_loop(const TimeLoop& loop) {
    const std::string name = name_of(loop.name);
    if (loop.strategy == Strategy::Scan) return KernelEmitter::emit_scan(unit_, loop, name);
    if (loop.strategy != Strategy::Stepwise) {
      throw InternalError("codegen/cpu", "loop " + loop.name + ": no strategy of this backend");
    }
    std::vector<llvm::Function*> parts;
    for (const Stage& stage : loop.body) {
      if (llvm::Function* part = this->stage(stage, true)) parts.push_back(part);
    }
    llvm::Function* function = unit_.function(name, frame_function(), true);
    llvm::Value* frame = function->getArg(0);
    frame->setName("frame");
    FrameFields fields(unit_, frame);
    Scopes scopes(unit_, function);
    Builder& entry = scopes.at(0);
    llvm::Value* steps = fields.steps(entry);
    llvm::Value* last = entry.CreateSub(steps, unit_.number(1));
    OpenLoop time = loop.backward ? scopes.open(last, unit_.number(-1), -1, "step")
                                  : scopes.open(unit_.number(0), steps, 1, "step");
    Builder& b = scopes.here();
    for (llvm::Function* part : parts) b.CreateCall(part, {frame, time.index});
    for (const Carried& carried : loop.carried) {
      llvm::Value* slots[2] = {fields.data_slot(b, carried.buffers[0]), fields.data_slot(b, carried.buffers[1])};
      llvm::Value* before = b.CreateLoad(unit_.pointer(), slots[0]);
      llvm::Value* after = b.CreateLoad(unit_.pointer(), slots[1]);
      b.CreateStore(after, slots[0]);
      b.CreateStore(before, slots[1]);
    }
    scopes.close(time);
    scopes.here().CreateRetVoid();
    return function;
  }

  Unit& unit_;
};

}  // namespace

std::string entry_name(const Plan& plan, const char* entry) { return plan.name + "." + entry; }

std::unique_ptr<llvm::Module> emit(const Plan& plan, const Machine& machine, llvm::LLVMContext& context) {
  auto module = std::make_unique<llvm::Module>(plan.name, context);
  module->setTargetTriple(machine.triple);
  Unit unit(plan, machine, *module);
  PlanEmitter(unit).run();
  return module;
}

}  // namespace cellfuse::cpu
