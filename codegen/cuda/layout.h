#pragma once

#include <map>
#include <memory>
#include <vector>

#include "codegen/cuda/nest_body.h"

namespace cellfuse::cuda {

/// How a kernel is divided among threads, and where it keeps what its threads tell each other.
struct Layout {
  /// A team of threads a row, with synchronisation between nests; otherwise a thread for each group of lanes.
  bool has_teams = false;
  int team = 1;             ///< threads of a team
  std::int64_t groups = 1;  ///< threads of a row without teams
  Rows rows = Rows::One;
  std::int64_t rows_per_block = 1;
  std::int64_t blocks_per_row = 1;
  int threads = 1;                      ///< of a block
  std::map<int, std::int64_t> offsets;  ///< by scratch or state buffer: bytes into the memory of the row
  std::int64_t partials = 0;            ///< bytes for partial totals, twice, at the beginning of shared memory
  std::int64_t shared_bytes = 0;        ///< of a row
  std::int64_t scratch_bytes = 0;       ///< of a row, in global memory
  bool shares_state = false;            ///< states are kept in shared memory while the loop runs
  std::vector<std::unique_ptr<NestBody>> nests;
};

/// Chooses. Adds to `frame` the pointers and registers that the choice gives it.
Layout lay_out(KernelFrame& frame);

}  // namespace cellfuse::cuda
