#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dim.h"
#include "ir/dtype.h"
#include "runtime/call.h"

namespace cellfuse {

struct Plan;
struct Explanation;

/// One of the three programs of a cell.
enum class ProgramKind : std::uint8_t { Inference, Forward, Backward };
/// What a program can be looked at as.
enum class Picture : std::uint8_t { Cell, Sequence, Plan, Llvm, Asm };

std::string_view name(ProgramKind kind);
std::string_view name(Picture picture);
std::optional<Picture> picture_from_name(std::string_view name);

/// Exact bytes that a call takes beside the caller's tensors.
struct MemoryUse {
  std::int64_t record = 0;        ///< kept from forward to backward
  std::int64_t workspace = 0;     ///< while a pass runs, the larger of forward and backward
  std::int64_t scratch = 0;       ///< of the threads
  std::int64_t accumulators = 0;  ///< sums over steps and samples, for each group of samples
  std::int64_t flags = 0;         ///< masks, resets and step indices, for each step and sample
  std::int64_t total() const { return record + workspace + scratch + accumulators + flags; }
};

/// A tensor that a call takes or gives, with the names of its dimensions.
struct TensorInfo {
  std::string name;
  std::vector<std::int64_t> shape;  ///< of one sample at one step
  std::string dims;                 ///< `[4*H, I]`
  DType dtype = DType::Float32;
  bool trained = true;  ///< false for a buffer
};

/// What a compiled cell is called with. Outputs and finals are named as in the cell.
struct Interface {
  std::string cell;
  DimBinding dims;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> params;
  std::vector<TensorInfo> states;
  std::vector<TensorInfo> outputs;
};

/// What a training forward pass leaves for its backward pass: saved values, and where the inputs, params and initial
/// states of the call lie. These must stay alive and unchanged until the record is used or dropped. Moves only.
class Record {
 public:
  Record() noexcept;
  Record(Record&&) noexcept;
  Record& operator=(Record&&) noexcept;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record();

  explicit operator bool() const { return impl_ != nullptr; }
  const std::string& plan() const;  ///< name of the plan that made it; of an empty record a UsageError, as below
  std::int64_t steps() const;
  std::int64_t batch() const;
  std::int64_t bytes() const;

  struct Impl;

 private:
  friend class Executable;
  explicit Record(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Steps one by one with parameters that were prepared once. A call takes no memory from the system. One thread at a
/// time; the params given to `prepare` must stay alive, and unchanged for changes to have a defined effect.
class Stepper {
 public:
  Stepper() noexcept;
  Stepper(Stepper&&) noexcept;
  Stepper& operator=(Stepper&&) noexcept;
  ~Stepper();

  std::int64_t batch() const;
  /// Writes the value before the first step into `states` (`[batch, ...]`, every state).
  void start(const Tensors& states);
  /// One step of all samples; `call.states` go from before to after.
  void step(const StepCall& call);

  struct Impl;

 private:
  friend class Executable;
  explicit Stepper(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// A compiled cell. Cheap to copy, immutable; every member may be called from several threads at once.
///
/// Where `compile` left dimensions open, the first call binds them from the shapes of its tensors and compiles; a call
/// with other sizes compiles again, beside. Steps and batch never do.
///
/// Mistakes in a call are UsageErrors that name the tensor, what was expected and what was given; then nothing was
/// written.
class Executable {
 public:
  Executable() noexcept;

  /// A whole sequence without a thought of a backward pass: memory O(batch) beside workspace.
  void forward(const ForwardCall& call) const;
  /// The same, and what `backward` needs.
  [[nodiscard]] Record forward_training(const ForwardCall& call) const;
  /// Uses the record up. A record of another executable is a UsageError.
  void backward(Record&& record, const BackwardCall& call) const;

  /// Packs params (and buffers) for single steps of `batch` samples.
  [[nodiscard]] Stepper prepare(const ConstTensors& params, std::int64_t batch) const;

  /// Bytes of one call, before it runs. Dimensions must be bound.
  MemoryUse memory(std::int64_t steps, std::int64_t batch, bool training) const;

  /// Names, shapes and dtypes. Dimensions must be bound.
  const Interface& interface() const;
  /// The program as text, in one of its pictures. Dimensions must be bound.
  std::string text(ProgramKind kind, Picture picture) const;
  /// The plan itself, for those who want to look closer. Valid while the executable or a copy of it lives.
  const Plan& plan(ProgramKind kind) const;
  /// What the compiler did and why, counted and in words (see runtime/explain.h). Dimensions must be bound.
  Explanation explain() const;
  /// Time of each pass and of code generation, as a table.
  std::string compile_times() const;

  DType dtype() const;
  int threads() const;  ///< among which a batch is divided at most
  /// How many compilations have happened: 1 for each binding of the dimensions.
  std::int64_t compilations() const;
  bool bound() const;  ///< all dimensions have values

  struct Impl;
  explicit Executable(std::shared_ptr<Impl> impl) noexcept;

 private:
  Impl& impl() const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace cellfuse
