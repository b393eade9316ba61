#include "ir/run_data.h"

namespace cellfuse {

std::vector<std::int64_t> step_indices(const RunArguments& arguments) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(arguments.steps * arguments.batch));
  for (std::int64_t sample = 0; sample < arguments.batch; ++sample) {
    std::int64_t index = arguments.first_step;
    for (std::int64_t i = 0; i < arguments.steps; ++i) {
      const std::int64_t time = arguments.reverse ? arguments.steps - 1 - i : i;
      const auto at = static_cast<std::size_t>(time * arguments.batch + sample);
      indices[at] = index;
      if (arguments.live.empty() || arguments.live[at] != 0) ++index;
    }
  }
  return indices;
}

}  // namespace cellfuse
