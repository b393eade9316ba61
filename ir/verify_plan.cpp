#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "ir/diagnostic.h"
#include "ir/plan.h"

namespace cellfuse {

namespace {

class PlanVerifier {
 public:
  explicit PlanVerifier(const Plan& plan) : plan_(plan), graph_(plan.interface.graph) {
    for (const Buffer& buffer : plan.buffers) filled_.push_back(filled_by_caller(buffer.space));
  }

  void run() {
    for (const auto* stages : {&plan_.once, &plan_.begin, &plan_.chunk, &plan_.end, &plan_.finish}) check(*stages);
    check_overlap();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InternalError("verify plan", plan_.name + ": " + what);
  }

  static bool filled_by_caller(Space space) {
    switch (space) {
      case Space::Input:
      case Space::Param:
      case Space::Initial:
      case Space::InitialGiven:
      case Space::Live:
      case Space::Reset:
      case Space::StepIndex:
      case Space::Accumulator: return true;
      default: return false;
    }
  }

  const Buffer& buffer(int id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= plan_.buffers.size()) fail("a stage names no buffer");
    return plan_.buffers[static_cast<std::size_t>(id)];
  }

  void check(const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) {
      std::visit([&](const auto& s) { check(s); }, stage);
    }
  }

  void check(const Exchange& exchange) const {
    if (exchange.depth < 1 || exchange.value >= graph_.size()) fail("an exchange of nothing");
  }

  void read(int id, const std::string& by) {
    const Buffer& b = buffer(id);
    bool recorded_input = b.space == Space::Record && reads_record();
    if (!filled_[static_cast<std::size_t>(id)] && !recorded_input)
      fail(by + " reads `" + b.name + "` before it is made");
    if (in_loop_ && next_states_.contains(id)) fail(by + " reads `" + b.name + "`, which the loop is writing");
  }

  bool reads_record() const {
    const auto& inputs = plan_.interface.inputs;
    return std::any_of(inputs.begin(), inputs.end(), [](const CellInput& i) { return i.role == InputRole::Record; });
  }

  void write(int id) { filled_[static_cast<std::size_t>(id)] = true; }

  void check(const Pack& pack) {
    read(pack.from, "a pack");
    write(pack.to);
    if (buffer(pack.to).shape.count() != buffer(pack.from).shape.count())
      fail("a pack changes the size of `" + buffer(pack.to).name + "`");
  }

  void check(const Gemm& gemm) {
    read(gemm.a, "gemm " + gemm.name);
    read(gemm.b, "gemm " + gemm.name);
    DType compute = info(plan_.dtype).compute;
    for (int id : {gemm.a, gemm.b, gemm.c}) {
      // choose_layout widens what the caller stores in 16 bits; buffers are placed after it.
      bool still_to_widen = buffer(id).space == Space::Param && buffer(id).last_use < 0;
      if (buffer(id).dtype != compute && !still_to_widen)
        fail("gemm " + gemm.name + " on `" + buffer(id).name + "`, which is not in the compute type");
    }
    if (gemm.kind == GemmKind::Outer && (!gemm.accumulate || buffer(gemm.c).space != Space::Accumulator)) {
      fail("gemm " + gemm.name + " adds to `" + buffer(gemm.c).name + "`, which is no accumulator");
    }
    std::int64_t columns = gemm.kind == GemmKind::Linear ? gemm.n * gemm.rows_per_unit : gemm.n * gemm.k;
    if (buffer(gemm.c).shape.count() != columns)
      fail("gemm " + gemm.name + " does not fit `" + buffer(gemm.c).name + "`");
    if (in_loop_ && gemm.c >= 0 && (gemm.c == gemm.a || gemm.c == gemm.b))
      fail("gemm " + gemm.name + " overwrites its operand");
    write(gemm.c);
  }

  void check(const TimeLoop& loop) {
    for (const Carried& carried : loop.carried) {
      next_states_.insert(carried.buffers[1]);
      if (!filled_[static_cast<std::size_t>(carried.buffers[0])])
        fail("state `" + buffer(carried.buffers[0]).name + "` has no start");
    }
    in_loop_ = true;
    check(loop.body);
    in_loop_ = false;
    for (const Carried& carried : loop.carried) {
      if (!filled_[static_cast<std::size_t>(carried.buffers[1])])
        fail("state `" + buffer(carried.buffers[0]).name + "` has no next value");
    }
    next_states_.clear();
  }

  void check(const Kernel& kernel) {
    std::set<int> made_here;
    for (const Store& store : kernel.stores) made_here.insert(store.buffer);
    for (const Load& load : kernel.loads) {
      if (!made_here.contains(load.buffer)) read(load.buffer, "kernel " + kernel.name);
    }
    for (const Store& store : kernel.stores) {
      check_fit(kernel, store);
      if (store.when_masked == WhenMasked::Hold) read(store.hold, "kernel " + kernel.name);
      write(store.buffer);
    }
    if (!kernel.nests.empty()) check_nests(kernel);
  }

  void check_fit(const Kernel& kernel, const Store& store) const {
    const Shape& value = graph_[store.node].shape;
    const Buffer& to = buffer(store.buffer);
    bool fits = value.rank() == to.shape.rank();
    for (int axis = 0; fits && axis < value.rank(); ++axis) {
      bool part = axis == store.axis && store.begin >= 0 && store.begin + value[axis].size <= to.shape[axis].size;
      fits = part || value[axis] == to.shape[axis];
    }
    if (!fits)
      fail("kernel " + kernel.name + ": a store of " + value.sizes() + " does not fit `" + to.name + "` " +
           to.shape.sizes());
    if (store.mode == StoreMode::Add && to.space != Space::Accumulator)
      fail("kernel " + kernel.name + " adds to `" + to.name + "`, which is no accumulator");
  }

  /// Each stored value has one nest; a nest reads what an earlier one stored.
  void check_nests(const Kernel& kernel) const {
    std::map<NodeId, int> nest_of;
    for (std::size_t i = 0; i < kernel.nests.size(); ++i) {
      for (const auto* list : {&kernel.nests[i].roots, &kernel.nests[i].also}) {
        for (NodeId id : *list) {
          if (!nest_of.try_emplace(id, static_cast<int>(i)).second)
            fail("kernel " + kernel.name + ": a value is made by two nests");
        }
      }
    }
    for (const Store& store : kernel.stores) {
      if (!nest_of.contains(store.node)) fail("kernel " + kernel.name + ": a stored value is made by no nest");
    }
  }

  /// Buffers of one arena that are in use at the same time lie apart.
  void check_overlap() const {
    auto arena_of = [](const Buffer& b) {
      if (b.space == Space::Scratch) return 3;
      return b.time ? 2 : (b.batch ? 1 : 0);
    };
    std::vector<const Buffer*> placed;
    for (const Buffer& b : plan_.buffers) {
      if ((b.space == Space::Workspace || b.space == Space::Scratch) && b.last_use >= 0) placed.push_back(&b);
    }
    for (std::size_t i = 0; i < placed.size(); ++i) {
      for (std::size_t j = i + 1; j < placed.size(); ++j) {
        const Buffer& a = *placed[i];
        const Buffer& b = *placed[j];
        bool together = arena_of(a) == arena_of(b) && a.first_use <= b.last_use && b.first_use <= a.last_use;
        bool overlap = a.offset < b.offset + b.bytes() && b.offset < a.offset + a.bytes();
        if (together && overlap) fail("`" + a.name + "` and `" + b.name + "` share memory while both are in use");
      }
    }
  }

  const Plan& plan_;
  const Graph& graph_;
  std::vector<bool> filled_;  // by buffer
  std::set<int> next_states_;
  bool in_loop_ = false;
};

}  // namespace

void verify(const Plan& plan) { PlanVerifier(plan).run(); }

}  // namespace cellfuse
