#include "passes/min_cut.h"

#include <doctest/doctest.h>

using namespace cellfuse;

TEST_CASE("the cut is where the capacity is least") {
  // 0 -3-> 2 -1-> 3 -3-> 1
  MinCut cut(4);
  cut.add_edge(0, 2, 3);
  cut.add_edge(2, 3, 1);
  cut.add_edge(3, 1, 3);
  CHECK(cut.sink_side(0, 1) == std::vector<bool>{false, true, false, true});
}

TEST_CASE("among equal cuts: closest to the sink, closest to the source") {
  auto chain = [] {
    MinCut cut(5);
    cut.add_edge(0, 2, 2);
    cut.add_edge(2, 3, 2);
    cut.add_edge(3, 4, 2);
    cut.add_edge(4, 1, 2);
    return cut;
  };
  CHECK(chain().sink_side(0, 1) == std::vector<bool>{false, true, false, false, false});
  CHECK(chain().source_side(0, 1) == std::vector<bool>{true, false, false, false, false});
}

TEST_CASE("flow that must be led back") {
  // The short path through 2 -> 5 blocks both others unless it is undone.
  MinCut cut(6);
  cut.add_edge(0, 2, 1);
  cut.add_edge(0, 3, 1);
  cut.add_edge(2, 4, 1);
  cut.add_edge(2, 5, 1);
  cut.add_edge(3, 5, 1);
  cut.add_edge(4, 1, 1);
  cut.add_edge(5, 1, 1);
  const std::vector<bool> sink_side = cut.sink_side(0, 1);
  CHECK(sink_side == std::vector<bool>{false, true, false, false, false, false});
}

TEST_CASE("a source that leads nowhere") {
  MinCut cut(3);
  cut.add_edge(0, 2, 5);
  CHECK(cut.source_side(0, 1) == std::vector<bool>{true, false, true});
}
