#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/backend.h"
#include "runtime/bind_call.h"
#include "runtime/compilation.h"
#include "runtime/compile.h"

namespace cellfuse {

struct Executable::Impl {
  CellTemplate source;
  CompileOptions options;  ///< complete
  const Backend* backend = nullptr;
  Target target;
  std::shared_ptr<const Resources> resources;

  /// The compilation for the dimensions that a call's tensors show.
  std::shared_ptr<const Compilation> compilation(const ForwardCall& call);
  std::shared_ptr<const Compilation> compilation(const ConstTensors& params);
  std::shared_ptr<const Compilation> compile_for(const DimBinding& dims);
  /// The only one there is. Throws UsageError when dimensions are open or were bound in several ways.
  std::shared_ptr<const Compilation> only() const;
  bool bound() const;
  std::int64_t count() const;

 private:
  /// Those who need the same compilation wait for it; the others do not.
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const Compilation> compilation;
  };
  std::vector<std::shared_ptr<const Compilation>> compiled() const;

  mutable std::mutex mutex_;
  std::map<DimBinding, std::shared_ptr<Entry>> entries_;
};

struct Record::Impl {
  std::shared_ptr<const Executable::Impl> executable;
  std::shared_ptr<const Compilation> compilation;
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  BatchGroups groups;
  SequenceArguments sequence;  ///< its views are not used any more
  SequenceFlags flags;
  std::vector<Strided> inputs;  ///< by input of the forward cell
  std::vector<Strided> params;
  std::vector<Strided> initial;  ///< by state, in `copies`
  MemoryPool::Block copies;
  MemoryPool::Block saved;
  std::int64_t bytes = 0;
};

/// Copies what is given of the states' initial values, so that they may be overwritten: `[state][batch, ...]`.
MemoryPool::Block copy_initial(const Interface& interface, std::int64_t batch, std::vector<Strided>& initial,
                               MemoryPool& memory);

/// What the tensors of a call are checked against.
struct CallSlots {
  Slots inputs;
  Slots params;
  Slots initial;
  Slots outputs;
  Slots finals;
};
CallSlots slots_of(const Interface& interface);

/// Dimensions that the shapes of named tensors imply, beside those of `known`. Throws UsageError that names the tensors
/// when they contradict each other or leave one open.
DimBinding infer_dims(const CellTemplate& cell, const DimBinding& known, const ForwardCall& call);

}  // namespace cellfuse
