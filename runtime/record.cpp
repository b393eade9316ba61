#include "ir/diagnostic.h"
#include "runtime/executable_impl.h"

namespace cellfuse {

namespace {

const Record::Impl& filled(const std::unique_ptr<Record::Impl>& impl) {
  if (!impl) throw UsageError("the record is empty, or was used before");
  return *impl;
}

}  // namespace

Record::Record() noexcept = default;
Record::Record(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Record::Record(Record&&) noexcept = default;
Record& Record::operator=(Record&&) noexcept = default;
Record::~Record() = default;

const std::string& Record::plan() const { return filled(impl_).compilation->program(ProgramKind::Forward).plan.name; }
std::int64_t Record::steps() const { return filled(impl_).steps; }
std::int64_t Record::batch() const { return filled(impl_).batch; }
std::int64_t Record::bytes() const { return filled(impl_).bytes; }

}  // namespace cellfuse
