#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/dtype.h"
#include "ir/sequence.h"
#include "ir/target.h"

namespace cellfuse {

/// Where a buffer lives and who fills it.
enum class Space : std::uint8_t {
  Input,    ///< caller's input `index` of Cell::inputs, any strides for time and batch
  Output,   ///< caller's output `index` of Cell::outputs
  Param,    ///< caller's param or buffer `index`, row-major
  Initial,  ///< caller's initial value of state `index` (past the states: of a sample input); zeros where not given
  InitialGiven,  ///< scalar 1 or 0, in the compute type
  Final,         ///< caller's final value of state `index`
  Result,        ///< caller's result `index`
  Record,        ///< field `index` of the record between forward and backward
  Live,          ///< `[time, batch]` bytes: 0 where the step is masked
  Reset,         ///< `[time, batch]` bytes: 1 where the states start anew; 0 at masked steps
  StepIndex,     ///< `[time, batch]` 32-bit `t`
  State,         ///< carried value of state `index`, two of each: before and after the step
  Accumulator,   ///< sum over steps and samples; zeroed before the call, one for each batch group, added up in order
  Workspace,     ///< from the arena
  Scratch,       ///< of one row of one kernel
};

/// Order of a buffer's axes.
enum class Order : std::uint8_t {
  RowMajor,    ///< `[time, batch, ...]`, last axis contiguous
  Transposed,  ///< a matrix stored by columns
  Panels,      ///< a GEMM weight `[N, K]` packed as `[ceil(N / panel)][K][panel]`, zero-filled
};

/// A storage place. `[time, batch, shape...]` with the leading axes that `time` and `batch` say. A workspace buffer
/// with both has room for one chunk of steps of one batch group.
struct Buffer {
  std::string name;
  Space space = Space::Workspace;
  int index = 0;
  DType dtype = DType::Float32;
  bool time = false;
  bool batch = false;
  Shape shape;
  Order order = Order::RowMajor;
  int panel = 0;            ///< width of a panel for Order::Panels
  std::int64_t offset = 0;  ///< in the arena of its class (see Arena), bytes per unit; set by place_buffers
  int first_use = 0;        ///< position of the first and last stage that touch it, counted through the whole plan
  int last_use = -1;        ///< -1: not used, or not placed yet

  std::int64_t elements() const;  ///< per unit (step and sample), with padding of the order
  std::int64_t bytes() const;     ///< per unit
};

/// Bytes of workspace: `once` for the call, `per_sample` for each sample, `per_step` for each sample and step of a
/// chunk.
struct Arena {
  std::int64_t once = 0;
  std::int64_t per_sample = 0;
  std::int64_t per_step = 0;
  std::int64_t scratch = 0;  ///< for each thread
};

/// How a value of the loop is spread over the blocks that run it.
enum class Distribution : std::uint8_t { Owned, Gathered, Partial };
/// What an exchange travels through.
enum class Transport : std::uint8_t { Registers, SharedMemory, Cluster, GlobalMemory };

/// A change of distribution: the one thing that blocks wait for each other for. Synchronisations are counted by it.
struct Exchange {
  NodeId value = kNoNode;
  Distribution from = Distribution::Owned;
  Distribution to = Distribution::Gathered;
  Transport transport = Transport::GlobalMemory;
  int depth = 1;  ///< buffers in flight; a writer may run depth - 1 steps ahead of the slowest reader
};

/// Where a matrix is kept while the loop runs.
enum class Residency : std::uint8_t { Registers, OnChip, Streamed };

enum class GemmKind : std::uint8_t {
  Linear,  ///< c[rows, n] = a[rows, k] * W, W given as [n, k] or, with `contract_rows`, as [k, n]
  Outer,   ///< c[n, k] += sum over rows of a[row, n] * b[row, k]
};
enum class GemmCode : std::uint8_t { Library, Generated };

/// A matrix product over all rows of its place: samples of one step in a loop, steps x samples of a chunk outside, or a
/// fixed number (domain Once). Operands are buffers in the compute type; `rows_per_unit` rows for each sample (a matrix
/// per sample has several).
struct Gemm {
  std::string name;
  NodeId node = kNoNode;
  GemmKind kind = GemmKind::Linear;
  int a = -1;
  int b = -1;  ///< the matrix, or the second operand of Outer
  int c = -1;
  bool contract_rows = false;
  bool accumulate = false;  ///< add to c
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t rows_per_unit = 1;
  GemmCode code = GemmCode::Library;
  Residency residency = Residency::Streamed;
  std::string reason;  ///< why this layout and code
};

/// A copy of a matrix into the layout its GEMM wants.
struct Pack {
  int from = -1;
  int to = -1;
  bool contract_rows = false;  ///< `from` is [k, n] instead of [n, k]
};

struct Load {
  NodeId node = kNoNode;
  int buffer = -1;
  bool zero_when_masked = false;  ///< a masked step reads 0
};

enum class StoreMode : std::uint8_t { Set, Add };
enum class WhenMasked : std::uint8_t {
  Store,  ///< no difference
  Zero,   ///< store 0 (Set) or add nothing (Add)
  Hold,   ///< store what `hold` has
};

struct Store {
  NodeId node = kNoNode;
  int buffer = -1;
  int axis = 0;  ///< the value fills [begin, begin + its size) of the buffer along this axis
  std::int64_t begin = 0;
  StoreMode mode = StoreMode::Set;
  WhenMasked when_masked = WhenMasked::Store;
  int hold = -1;  ///< buffer, for WhenMasked::Hold
};

enum class NestKind : std::uint8_t { Map, Reduce, CumSum };

/// One loop nest over `space`. Its roots are computed at every index; what they depend on is computed in place at the
/// index that views lead to, until a value that the kernel loads or that an earlier nest stored.
/// - Map: roots have shape `space`.
/// - Reduce: roots are reductions along `axis` of values of shape `space`; `also` are values of shape `space` stored on
///   the way.
/// - CumSum: roots are running sums along `axis`.
struct Nest {
  NestKind kind = NestKind::Map;
  Shape space;
  int axis = 0;
  std::vector<NodeId> roots;
  std::vector<NodeId> also;
};

/// A fused kernel: for each row (see Gemm) its nests in order. A node found in `loads` is read from its buffer; where a
/// store of this very kernel fills that buffer with the node (or with the parts of a Concat), the nest that does so
/// computes it, and later nests read it. A node may have several stores; Concat values are stored part by part.
struct Kernel {
  std::string name;
  Domain domain =
      Domain::Step;  ///< of the rows: Step rows are those of the place, Sample the samples, Once a single one
  std::vector<Load> loads;
  std::vector<Store> stores;
  std::vector<Nest> nests;
};

enum class Strategy : std::uint8_t { Stepwise, PersistentCluster, PersistentGrid, Scan };

/// How the batch is divided among independent groups, and each group's part in flight.
struct BatchSplit {
  int groups = 1;  ///< at most; a call with fewer samples uses fewer
  int parts_in_flight = 1;
};

/// A state carried from step to step: `leaf` reads buffers[0], `next` is stored to buffers[1], and the two swap.
struct Carried {
  int state = 0;
  NodeId leaf = kNoNode;
  NodeId next = kNoNode;
  int buffers[2] = {-1, -1};
  Distribution distribution = Distribution::Owned;
};

struct TimeLoop;
using Stage = std::variant<Kernel, Gemm, Pack, Exchange, TimeLoop>;

/// The loop over the steps of a chunk, as a node: its body runs as calls or launches, or inside one kernel.
struct TimeLoop {
  std::string name;
  bool backward = false;
  Strategy strategy = Strategy::Stepwise;
  std::vector<Carried> carried;
  std::vector<Stage> body;
  BatchSplit split;
};

/// One way to run a loop, with what the model expects of it.
struct Candidate {
  Strategy strategy = Strategy::Stepwise;
  bool feasible = false;
  double seconds_per_step = 0;
  std::string reason;
};

/// A field of the record that forward leaves for backward: `[time, batch, shape]`.
struct RecordField {
  std::string name;
  Shape shape;
  DType dtype = DType::Float32;
};

/// Kernels, GEMM calls and buffers for one target, one dtype and one binding of dimensions; steps and batch stay open.
///
/// A call runs `once`; then for each batch group `begin`, the chunks of steps (`chunk`, in the order of the loop), and
/// `end`; then accumulators of the groups are added up, and `finish` runs.
struct Plan {
  std::string name;
  Target target;
  DType dtype = DType::Float32;
  Cell interface;  ///< names, shapes and roles of inputs, outputs, states, results; and the graph the kernels refer to
  std::vector<Buffer> buffers;
  std::vector<Stage> once;    ///< domain Once, before anything
  std::vector<Stage> begin;   ///< domain Sample, before the loops
  std::vector<Stage> chunk;   ///< stages over all steps of a chunk, and the loops
  std::vector<Stage> end;     ///< domain Sample, after the loops
  std::vector<Stage> finish;  ///< domain Once, after everything
  std::vector<RecordField> record;
  Arena arena;
  std::vector<Candidate> candidates;
  std::vector<std::string> reasons;
  double floor_seconds_per_step = 0;  ///< for one sample group: what the model says no plan can beat
};

std::string print(const Plan& plan);
/// Checks that every value is made before it is read, that buffers that live at the same time do not overlap, that no
/// buffer is written while it may still be read, and that every store fits its buffer.
void verify(const Plan& plan);

std::string_view name(Space space);
std::string_view name(Strategy strategy);
std::string_view name(Order order);

}  // namespace cellfuse
