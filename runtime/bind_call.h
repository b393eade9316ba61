#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/call.h"
#include "runtime/executable.h"

namespace cellfuse {

/// One tensor as a program reaches it: the value of step t and sample b starts t * time_stride + b * batch_stride bytes
/// after `data`. Null where the caller gives none.
struct Strided {
  std::byte* data = nullptr;
  std::int64_t time_stride = 0;
  std::int64_t batch_stride = 0;
  DType dtype = DType::Float32;
};

/// Axes in front of a value's own.
enum class Leading : std::uint8_t { None, Batch, TimeBatch };

/// The tensors of one kind that a call may have.
struct Slots {
  const char* kind = "";  ///< "input", "gradient of output"
  std::span<const TensorInfo> declared;
  Leading leading = Leading::None;
  bool required = false;
  bool written = false;
  bool copied = false;                 ///< before anything is written, so that it may share memory with what is
  std::optional<DType> other_dtype{};  ///< allowed beside that of the declaration
};

/// Checks the tensors of a call against what the cell declares, one kind after the other. Throws UsageError.
class CallBinder {
 public:
  /// Steps and samples as far as `arguments` say them; the first tensor that has the axis says the rest.
  explicit CallBinder(const SequenceArguments& arguments);

  /// By index in `slots.declared`. Tensors that have leading axes must agree on them.
  std::vector<Strided> bind(const Slots& slots, const ConstTensors& given);
  std::vector<Strided> bind(const Slots& slots, const Tensors& given);

  /// A UsageError, naming two tensors, when memory that is written is also read, or written twice. Memory of tensors
  /// that were bound as `released` is left out.
  void check_aliases() const;

  /// Throws UsageError when no tensor and no argument tells them.
  std::int64_t steps() const;
  std::int64_t batch() const;

 private:
  struct Axis {
    const char* name;
    std::int64_t size = -1;
    std::string from;  // who said it
  };
  struct Seen {
    std::string what;
    const std::byte* data;
    bool written;
  };

  template <typename Named>
  std::vector<Strided> bind_all(const Slots& slots, const std::vector<Named>& given);
  Strided bind_one(const Slots& slots, const TensorInfo& info, std::byte* data, DType dtype, const TensorShape& shape);
  void check_shape(const Slots& slots, const TensorInfo& info, const std::string& what, const TensorShape& shape);
  void agree(Axis& axis, std::int64_t size, const std::string& what);
  std::string expected(const Slots& slots, const TensorInfo& info) const;

  bool batch_major_;
  Axis steps_{"time", -1, {}};
  Axis batch_{"batch", -1, {}};
  std::vector<Seen> seen_;
};

}  // namespace cellfuse
