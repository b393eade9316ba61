#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ir/target.h"
#include "runtime/loaded_plan.h"
#include "runtime/memory_pool.h"
#include "runtime/thread_pool.h"

namespace cellfuse {

/// What the plans of an executable share.
struct Resources {
  std::shared_ptr<ThreadPool> threads;
  std::shared_ptr<MemoryPool> memory;
  std::int64_t workspace_limit = 0;  ///< bytes
};

/// One row a kind of device.
struct Backend {
  std::string_view device;  ///< as in `--device`
  std::string_view what;    ///< for a person
  /// The machine to plan for when none is asked for.
  Target (*target)();
  /// Makes a program of a plan, which must outlive it. Null where this build only plans.
  std::unique_ptr<LoadedPlan> (*load)(const Plan& plan, const Resources& resources);
};

/// All devices of this build.
std::span<const Backend> backends();
/// Throws CompileError that lists the devices there are.
const Backend& find_backend(std::string_view device);
/// The plan as optimised LLVM IR or assembly. Throws CompileError where this build has no code generator for its
/// target.
std::string code_text(const Plan& plan, Picture picture);

}  // namespace cellfuse
