#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/cuda/kernel_head.h"
#include "codegen/cuda/nest_code.h"

namespace cellfuse::cuda {

/// The code of a thread that walks the steps of its elements: states and sums in registers, inputs fetched some steps
/// ahead.
class StepWalk {
 public:
  StepWalk(const KernelFrame& frame, const KernelHead& head, NestCode& code, Writer& out);

  void emit();

 private:
  /// Memory that is read ahead of its step.
  struct Ahead {
    int element = -1;  ///< -1: the mask
    std::string type;
    std::string array;
  };

  void find_ahead();
  void open_sums();
  void close_sums();
  void load_states();
  void store_states();
  std::string state_type() const;
  std::string time_of(const std::string& walked) const;
  std::string fetch(const Ahead& ahead) const;
  void fetch_function();
  void steps();
  void step();

  const KernelFrame& frame_;
  const KernelHead& head_;
  NestCode& code_;
  Writer& out_;
  std::vector<Ahead> ahead_;
  int depth_ = 1;  ///< steps fetched ahead
  std::map<const StoredElement*, std::string> sums_;
};

}  // namespace cellfuse::cuda
