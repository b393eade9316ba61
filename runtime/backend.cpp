#include "runtime/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "ir/diagnostic.h"
#include "runtime/reference_plan.h"
#if CELLFUSE_CPU_JIT
#include "runtime/cpu/cpu_plan.h"
#include "runtime/cpu/jit.h"
#endif

namespace cellfuse {

namespace {

Target generic_cpu() { return *find_target("cpu"); }

constexpr Backend kBackends[] = {
#if CELLFUSE_CPU_JIT
    {"cpu", "this processor, compiled code", cpu::host_target, cpu::load},
#else
    {"cpu", "this processor; this build has no code generator for it", generic_cpu, nullptr},
#endif
    {"reference", "the float64 interpreter of plans: slow, the measure of the others", generic_cpu, load_reference},
};

}  // namespace

std::span<const Backend> backends() { return kBackends; }

const Backend& find_backend(std::string_view device) {
  std::vector<std::string_view> names;
  for (const Backend& backend : kBackends) {
    if (backend.device == device) return backend;
    names.push_back(backend.device);
  }
  throw CompileError(fmt::format("this build has no device `{}`", device),
                     fmt::format("there is {}", fmt::join(names, ", ")));
}

std::string code_text(const Plan& plan, Picture picture) {
#if CELLFUSE_CPU_JIT
  if (plan.target.kind == TargetKind::Cpu) {
    return picture == Picture::Llvm ? cpu::llvm_text(plan) : cpu::assembly_text(plan);
  }
#endif
  throw CompileError(fmt::format("this build cannot show {} for the target `{}`", name(picture), plan.target.name));
}

}  // namespace cellfuse
