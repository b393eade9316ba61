#pragma once

#include <vector>

#include "codegen/cpu/frame.h"
#include "runtime/call_layout.h"
#include "runtime/cpu/jit.h"
#include "runtime/memory_pool.h"
#include "runtime/thread_pool.h"

namespace cellfuse::cpu {

/// By buffer of the plan: whether `call` has the tensor, and the program may use it where it lies.
std::vector<bool> given_tensors(const Plan& plan, const PlanCall& call);

/// One call of a compiled plan: its memory, and a table of addresses for each group of samples. May be bound and run
/// again for calls of the same shape, which give the tensors for which there is no room; then it takes no memory.
class Execution {
 public:
  Execution(const Plan& plan, const CompiledPlan& code, CallLayout layout, MemoryPool& memory);

  /// Points the tables at the tensors of `call`, which must live until the runs that follow are done.
  void bind(const PlanCall& call);
  /// What depends on parameters only.
  void run_once();
  /// The groups, shared among `threads`.
  void run_groups(ThreadPool& threads);
  /// Sums over the groups, and what is made of them.
  void run_finish();

 private:
  /// Addresses by buffer, for one group.
  struct Tables {
    std::vector<std::byte*> data;           // as the program sees them
    std::vector<std::byte*> first;          // at processed step 0
    std::vector<std::int64_t> time_stride;  // in the order in which forward walks
    std::vector<std::int64_t> batch_stride;
    Frame frame{};
  };

  void bind_buffer(int group, std::size_t index);
  void bind_own(int group, std::size_t index, std::byte* start, std::int64_t offset);
  Strided tensor(std::size_t index) const;
  Strided record_field(int group, const Buffer& buffer) const;
  void run_group(int group);
  void run_chunk(Tables& tables, std::int64_t first, std::int64_t steps);
  void add_up_accumulators();
  void deliver_results();

  const Plan& plan_;
  const CompiledPlan& code_;
  CallLayout layout_;
  MemoryPool::Block block_;
  std::vector<Tables> groups_;
  const PlanCall* call_ = nullptr;
  RecordLayout record_;
};

}  // namespace cellfuse::cpu
