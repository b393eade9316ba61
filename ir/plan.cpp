#include "ir/plan.h"

namespace cellfuse {

std::int64_t Buffer::elements() const {
  if (order != Order::Panels) return shape.count();
  std::int64_t panels = (shape[0].size + panel - 1) / panel;
  return panels * panel * shape[1].size;
}

std::int64_t Buffer::bytes() const {
  if (space == Space::Live || space == Space::Reset) return 1;
  if (space == Space::StepIndex) return 4;
  return elements() * static_cast<std::int64_t>(info(dtype).bytes);
}

std::string_view name(Space space) {
  switch (space) {
    case Space::Input: return "input";
    case Space::Output: return "output";
    case Space::Param: return "param";
    case Space::Initial: return "initial";
    case Space::InitialGiven: return "initial_given";
    case Space::Final: return "final";
    case Space::Result: return "result";
    case Space::Record: return "record";
    case Space::Live: return "live";
    case Space::Reset: return "reset";
    case Space::StepIndex: return "step_index";
    case Space::State: return "state";
    case Space::Accumulator: return "accumulator";
    case Space::Workspace: return "workspace";
    case Space::Scratch: return "scratch";
  }
  return "?";
}

std::string_view name(Strategy strategy) {
  switch (strategy) {
    case Strategy::Stepwise: return "stepwise";
    case Strategy::PersistentCluster: return "persistent-cluster";
    case Strategy::PersistentGrid: return "persistent-grid";
    case Strategy::Scan: return "scan";
  }
  return "?";
}

std::string_view name(Order order) {
  switch (order) {
    case Order::RowMajor: return "row-major";
    case Order::Transposed: return "transposed";
    case Order::Panels: return "panels";
  }
  return "?";
}

}  // namespace cellfuse
