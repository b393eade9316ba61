#include "runtime/cpu/host.h"

#include <dlfcn.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "runtime/cpu/jit.h"

namespace cellfuse::cpu {

namespace {

struct Host {
  std::string triple = llvm::sys::getProcessTriple();
  std::string cpu = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();

  bool has(std::initializer_list<const char*> names) const {
    return std::ranges::all_of(names, [&](const char* name) { return features.lookup(name); });
  }
};

const Host& host() {
  static const Host host;
  return host;
}

constexpr const char* kAvx2[] = {"avx2", "fma", "f16c"};

/// Levels of the x86-64 ABI that have vectors of a width.
struct Level {
  int vector_bytes;
  const char* cpu;
};
constexpr Level kLevels[] = {{64, "x86-64-v4"}, {32, "x86-64-v3"}, {16, "x86-64"}};

bool runs_here(int vector_bytes) {
  if (vector_bytes == 64) return host().has({"avx512f", "avx512bw", "avx512dq", "avx512vl"}) && runs_here(32);
  if (vector_bytes == 32) return host().has({kAvx2[0], kAvx2[1], kAvx2[2]});
  return true;
}

}  // namespace

int host_vector_bytes() {
  for (const Level& level : kLevels) {
    if (runs_here(level.vector_bytes)) return level.vector_bytes;
  }
  return 16;
}

Machine machine_for(int vector_bytes) {
  Machine machine;
  machine.triple = host().triple;
  machine.vector_bytes = vector_bytes;
  if (runs_here(vector_bytes)) {
    machine.cpu = host().cpu;
    std::vector<std::string> names;
    for (const auto& feature : host().features) {
      names.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
    }
    std::ranges::sort(names);
    for (const std::string& name : names) machine.features += (machine.features.empty() ? "" : ",") + name;
    machine.fused_multiply = host().has({"fma"});
    machine.half_conversion = host().has({"f16c"});
  } else {
    for (const Level& level : kLevels) {
      if (level.vector_bytes == vector_bytes) machine.cpu = level.cpu;
    }
    machine.fused_multiply = machine.half_conversion = vector_bytes > 16;
  }
  machine.scalef = vector_bytes == 64;
  machine.has_function = [](const std::string& symbol) { return vector_function(symbol) != nullptr; };
  return machine;
}

void* vector_function(const std::string& symbol) {
  static void* const library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : dlsym(library, symbol.c_str());
}

Target host_target() {
  Target target;
  target.name = "cpu";
  target.kind = TargetKind::Cpu;
  target.vector_bytes = host_vector_bytes();
  target.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  target.on_chip_bytes = cache > 0 ? cache : 1 << 20;
  return target;
}

}  // namespace cellfuse::cpu
