#include "runtime/cpu/jit.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/AssemblyAnnotationWriter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/FormattedStream.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <chrono>
#include <cmath>
#include <mutex>

#include "codegen/cpu/emit.h"
#include "ir/diagnostic.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/host.h"

namespace cellfuse::cpu {

namespace {

[[noreturn]] void fail(const std::string& what, llvm::Error error) {
  throw DeviceError(fmt::format("LLVM: {}: {}", what, llvm::toString(std::move(error))));
}

template <typename T>
T value_or_fail(const std::string& what, llvm::Expected<T> expected) {
  if (!expected) fail(what, expected.takeError());
  return std::move(*expected);
}

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> target_machine(const Machine& machine) {
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(machine.triple, problem);
  if (target == nullptr) throw DeviceError("LLVM: " + problem);
  std::unique_ptr<llvm::TargetMachine> result(
      target->createTargetMachine(machine.triple, machine.cpu, machine.features, llvm::TargetOptions(),
                                  llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (result == nullptr) throw DeviceError("LLVM: no code generator for " + machine.triple);
  return result;
}

/// What is emitted is explicit vector code in SSA form: common subexpressions, strength reduction and invariant code
/// are all that is left to do.
void optimise(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true,
                                                       /*UseBlockFrequencyInfo=*/false));
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) passes.run(function, functions);
  }
}

/// A plan as an optimised module.
struct Built {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> target;
  CompileTimes times;
};

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Built build(const Plan& plan, bool names) {
  initialise_llvm();
  Stopwatch watch;
  const Machine machine = machine_for(plan.target.vector_bytes);
  Built built;
  built.context = std::make_unique<llvm::LLVMContext>();
  built.context->setDiscardValueNames(!names);
  built.target = target_machine(machine);
  built.module = emit(plan, machine, *built.context);
  built.module->setDataLayout(built.target->createDataLayout());
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*built.module, &stream)) {
    throw InternalError("codegen/cpu", "plan " + plan.name + " gives code that is not valid: " + problems);
  }
  built.times.emit = watch.lap();
  optimise(*built.module, *built.target);
  built.times.optimise = watch.lap();
  return built;
}

/// Functions that compiled code calls, by the names that the module declares.
llvm::orc::SymbolMap symbols_of(const llvm::Module& module, llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
  auto define = [&](llvm::StringRef name, void* address) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  };
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic()) continue;
    const std::string name = function.getName().str();
    if (name == kGemmFloat32) {
      define(name, reinterpret_cast<void*>(&cellfuse_gemm_f32));
    } else if (name == kGemmFloat64) {
      define(name, reinterpret_cast<void*>(&cellfuse_gemm_f64));
    } else if (void* address = vector_function(name)) {
      define(name, address);
    }
  }
  return symbols;
}

std::string emit_file(Built& built, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (built.target->addPassesToEmitFile(passes, stream, nullptr, type)) {
    throw DeviceError("LLVM: no such file from this code generator");
  }
  passes.run(*built.module);
  return {bytes.begin(), bytes.end()};
}

/// Above each function, what it does.
class CommentWriter final : public llvm::AssemblyAnnotationWriter {
 public:
  void emitFunctionAnnot(const llvm::Function* function, llvm::formatted_raw_ostream& stream) override {
    const llvm::MDNode* node = function->getMetadata(kComment);
    if (node != nullptr) stream << "; " << llvm::cast<llvm::MDString>(node->getOperand(0))->getString() << "\n";
  }
};

std::int64_t size_of_code(llvm::MemoryBufferRef object) {
  std::int64_t bytes = 0;
  auto file = value_or_fail("reading machine code", llvm::object::ObjectFile::createObjectFile(object));
  for (const llvm::object::SectionRef& section : file->sections()) {
    if (section.isText()) bytes += static_cast<std::int64_t>(section.getSize());
  }
  return bytes;
}

}  // namespace

struct CompiledPlan::Code {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

CompiledPlan::CompiledPlan(const Plan& plan) : code_(std::make_unique<Code>()) {
  if (plan.target.vector_bytes > host_vector_bytes()) {
    throw DeviceError(fmt::format("plan {} is for vectors of {} bytes, this processor has {}", plan.name,
                                  plan.target.vector_bytes, host_vector_bytes()));
  }
  check_gemm_library();
  Built built = build(plan, false);
  Stopwatch watch;
  const std::string object = emit_file(built, llvm::CodeGenFileType::ObjectFile);
  code_bytes_ = size_of_code(llvm::MemoryBufferRef(object, plan.name));

  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(built.target->getTargetTriple()));
  code_->jit = value_or_fail("making a JIT", builder.create());
  llvm::orc::LLJIT& jit = *code_->jit;
  llvm::orc::JITDylib& library = jit.getMainJITDylib();
  library.addGenerator(value_or_fail(
      "symbols of this process",
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix())));
  llvm::orc::SymbolMap symbols = symbols_of(*built.module, jit);
  if (llvm::Error error = library.define(llvm::orc::absoluteSymbols(std::move(symbols))))
    fail("symbols", std::move(error));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, plan.name);
  if (llvm::Error error = jit.addObjectFile(std::move(buffer))) fail("loading " + plan.name, std::move(error));
  Entry* entries[] = {&once_, &begin_, &chunk_, &end_, &finish_};
  for (std::size_t i = 0; i < std::size(kEntries); ++i) {
    const std::string name = entry_name(plan, kEntries[i]);
    *entries[i] = value_or_fail("linking " + name, jit.lookup(name)).toPtr<Entry>();
  }
  times_ = built.times;
  times_.codegen = watch.lap();
}

CompiledPlan::CompiledPlan(CompiledPlan&& other) noexcept = default;
CompiledPlan& CompiledPlan::operator=(CompiledPlan&& other) noexcept = default;
CompiledPlan::~CompiledPlan() = default;

std::string llvm_text(const Plan& plan) {
  Built built = build(plan, true);
  std::string text;
  llvm::raw_string_ostream stream(text);
  CommentWriter comments;
  built.module->print(stream, &comments);
  return text;
}

std::string assembly_text(const Plan& plan) {
  Built built = build(plan, true);
  return emit_file(built, llvm::CodeGenFileType::AssemblyFile);
}

}  // namespace cellfuse::cpu
