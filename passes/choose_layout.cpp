#include "passes/choose_layout.h"

#include <array>
#include <map>
#include <tuple>

namespace cellfuse {

namespace {

struct Choice {
  GemmCode code;
  Order order;
  std::string_view reason;
};

class LayoutChooser {
 public:
  LayoutChooser(Plan plan, const PlanOptions& options, const GemmCosts& costs)
      : plan_(std::move(plan)), options_(options), costs_(costs), compute_(info(plan_.dtype).compute) {}

  Plan run() {
    // A product of parameters runs before its packing could, on whatever lies there.
    visit(plan_.begin, kTypicalSamples, false);
    visit(plan_.chunk, kTypicalSamples * kTypicalSteps, false);
    visit(plan_.end, kTypicalSamples, false);
    visit(plan_.finish, 1, false);
    widen_once();
    for (const Pack& pack : packs_) plan_.once.emplace_back(pack);
    return std::move(plan_);
  }

 private:
  void visit(std::vector<Stage>& stages, std::int64_t units, bool in_loop) {
    for (Stage& stage : stages) {
      if (auto* loop = std::get_if<TimeLoop>(&stage)) {
        visit(loop->body, kTypicalSamples, true);
      } else if (auto* gemm = std::get_if<Gemm>(&stage)) {
        if (gemm->kind == GemmKind::Linear) choose(*gemm, units * gemm->rows_per_unit, in_loop);
      }
    }
  }

  /// Products of parameters: 16-bit matrices are widened just before them.
  void widen_once() {
    std::vector<Stage> stages;
    for (Stage& stage : plan_.once) {
      if (auto* gemm = std::get_if<Gemm>(&stage); gemm != nullptr && buffer(gemm->b).dtype != compute_) {
        Pack pack = pack_for(*gemm, Order::RowMajor);
        gemm->b = pack.to;
        stages.emplace_back(pack);
      }
      stages.push_back(std::move(stage));
    }
    plan_.once = std::move(stages);
  }

  void choose(Gemm& gemm, std::int64_t rows, bool in_loop) {
    Choice best = cheapest(gemm, rows, in_loop);
    gemm.code = best.code;
    gemm.reason = best.reason;
    gemm.residency = fits_on_chip(gemm) ? Residency::OnChip : Residency::Streamed;
    bool as_it_lies = best.order == Order::RowMajor && buffer(gemm.b).dtype == compute_;
    if (as_it_lies) return;
    gemm.b = packed(gemm, best.order);
    if (best.order == Order::Transposed) gemm.contract_rows = !gemm.contract_rows;
    if (best.order == Order::Panels) gemm.contract_rows = false;
  }

  Choice cheapest(const Gemm& gemm, std::int64_t rows, bool in_loop) const {
    const Choice as_it_lies{GemmCode::Library, Order::RowMajor, "library call, matrix as it lies"};
    if (!options_.layout || plan_.target.kind != TargetKind::Cpu) return as_it_lies;
    std::vector<Choice> choices{as_it_lies};
    // Packing pays where the matrix is read again at each step.
    if (in_loop) {
      choices.push_back({GemmCode::Library, Order::Transposed, "library call, matrix transposed once a call"});
      choices.push_back({GemmCode::Generated, Order::Panels, "emitted code, matrix packed in panels once a call"});
    }
    Choice best = choices.front();
    double least = 0;
    for (const Choice& choice : choices) {
      GemmQuery query{gemm.kind, rows, gemm.n, gemm.k, gemm.contract_rows, compute_, choice.code, choice.order};
      double seconds = costs_.seconds(query);
      if (&choice == &choices.front() || seconds < least) {
        least = seconds;
        best = choice;
      }
    }
    return best;
  }

  bool fits_on_chip(const Gemm& gemm) const {
    auto bytes = gemm.n * gemm.k * static_cast<std::int64_t>(info(compute_).bytes);
    return bytes <= plan_.target.on_chip_bytes * plan_.target.blocks;
  }

  int packed(const Gemm& gemm, Order order) {
    auto key = std::tuple(gemm.b, order);
    auto it = packed_.find(key);
    if (it != packed_.end()) return it->second;
    Pack pack = pack_for(gemm, order);
    packs_.push_back(pack);
    packed_[key] = pack.to;
    return pack.to;
  }

  Pack pack_for(const Gemm& gemm, Order order) {
    const Buffer& from = buffer(gemm.b);
    Buffer to;
    to.name = from.name + (order == Order::Panels ? "_panels" : (order == Order::Transposed ? "_transposed" : "_wide"));
    to.space = Space::Workspace;
    to.index = -1;
    to.dtype = compute_;
    to.order = order;
    to.shape = order == Order::Panels ? Shape{gemm.n, gemm.k} : from.shape;
    if (order == Order::Panels) to.panel = panel_width(gemm.n);
    auto id = static_cast<int>(plan_.buffers.size());
    plan_.buffers.push_back(to);
    return {gemm.b, id, gemm.contract_rows};
  }

  /// Two vector registers, or one where the matrix has no more rows than that.
  int panel_width(std::int64_t n) const {
    auto lanes = plan_.target.vector_bytes / static_cast<int>(info(compute_).bytes);
    return n <= lanes ? lanes : 2 * lanes;
  }

  const Buffer& buffer(int id) const { return plan_.buffers[static_cast<std::size_t>(id)]; }

  Plan plan_;
  const PlanOptions& options_;
  const GemmCosts& costs_;
  DType compute_;
  std::map<std::tuple<int, Order>, int> packed_;
  std::vector<Pack> packs_;
};

}  // namespace

Plan choose_layout(Plan plan, const PlanOptions& options, const GemmCosts& costs) {
  return LayoutChooser(std::move(plan), options, costs).run();
}

}  // namespace cellfuse
