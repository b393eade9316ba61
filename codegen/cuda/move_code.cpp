#include "codegen/cuda/move_code.h"

#include <fmt/format.h>

#include "codegen/cuda/identifiers.h"
#include "codegen/cuda/table_code.h"

namespace cellfuse::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kColumns = 32;  // of a block that adds up slots

void open_kernel(const Unit& unit, const std::string& name, Writer& out) {
  out.open(fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}_{}(const Call* table, int)", kThreads,
                       unit.name, name));
  out.line("const Call call = *table;");
  out.line("wait_for_previous_kernel();");
  out.line("let_next_kernel_start();");
}

}  // namespace

Launch emit_pack(const Unit& unit, const Pack& pack, Writer& out) {
  const Buffer& from = unit.buffer(pack.from);
  const Buffer& to = unit.buffer(pack.to);
  const std::string kernel = "pack_" + identifier(unit.field(pack.to));
  const std::int64_t count = to.elements();
  out.comment(fmt::format("{}: {}, {} into {}.", kernel, unit.field(pack.from), describe(from), describe(to)));
  open_kernel(unit, kernel, out);
  out.line(fmt::format("const long long element = block_in_grid() * {}LL + thread_in_block();", kThreads));
  out.line(fmt::format("if (element >= {}) return;", count));
  std::string at = "element";
  std::string condition;
  if (to.order == Order::Transposed) {
    const std::int64_t rows = from.shape[0].size;
    at = fmt::format("element % {} * {} + element / {}", rows, from.shape[1].size, rows);
  } else if (to.order == Order::Panels) {
    const std::int64_t n = to.shape[0].size;
    const std::int64_t k = to.shape[1].size;
    out.line(fmt::format("const long long n = element / {} * {} + element % {};", k * to.panel, to.panel, to.panel));
    out.line(fmt::format("const long long k = element / {} % {};", to.panel, k));
    at = pack.contract_rows ? fmt::format("k * {} + n", n) : fmt::format("n * {} + k", k);
    condition = fmt::format("n >= {} ? Real(0) : ", n);
  }
  out.line(fmt::format("const Real value = {}load<Real>(call.{}.data + {});", condition, unit.field(pack.from), at));
  out.line(fmt::format("store(call.{}.data + element, value);", unit.field(pack.to)));
  out.close();
  out.blank();
  Launch launch;
  launch.kernel = unit.name + "_" + kernel;
  launch.threads = kThreads;
  launch.blocks_per_row = (count + kThreads - 1) / kThreads;
  launch.reads = {pack.from};
  launch.writes = {pack.to};
  return launch;
}

Launch emit_add_up(const Unit& unit, int id, Writer& out) {
  const Buffer& buffer = unit.buffer(id);
  const std::string& field = unit.field(id);
  const std::string kernel = "add_up_" + identifier(field);
  const std::int64_t count = buffer.elements();
  out.comment(fmt::format("{}: adds up {}, which has a row for each {}.", kernel, field,
                          buffer.batch ? "segment of steps" : "sample and segment of steps"));
  open_kernel(unit, kernel, out);
  const std::string slots = buffer.batch ? "call.segments" : "static_cast<long long>(call.segments) * call.samples";
  const std::string columns = buffer.batch ? fmt::format("{}LL * call.samples", count) : fmt::format("{}", count);
  out.line(fmt::format("add_up_slots(call.{}.data, {}, {});", field, slots, columns));
  out.close();
  out.blank();
  Launch launch;
  launch.kernel = unit.name + "_" + kernel;
  launch.threads = kThreads;
  launch.shared_bytes = kThreads * unit.real_bytes();
  launch.reads = {id};
  launch.writes = {id};
  if (buffer.batch) {
    // A block for the columns of some samples, or some columns of a sample.
    launch.rows = Rows::Samples;
    launch.blocks_per_row = (count + kColumns - 1) / kColumns;
  } else {
    launch.blocks_per_row = (count + kColumns - 1) / kColumns;
  }
  return launch;
}

}  // namespace cellfuse::cuda
