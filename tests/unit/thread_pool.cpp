#include "runtime/thread_pool.h"

#include <atomic>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

using namespace cellfuse;

TEST_CASE("each part runs once") {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const int count : {0, 1, 2, 7, 100}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      pool.run(count, [&](int part) { ++runs[static_cast<std::size_t>(part)]; });
      for (const auto& n : runs) CHECK(n == 1);
    }
  }
}

TEST_CASE("the exception of the lowest part arrives, and the pool goes on") {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    CHECK_THROWS_WITH_AS(pool.run(8,
                                  [&](int part) {
                                    ++ran;
                                    if (part >= 2) throw std::runtime_error(std::to_string(part));
                                  }),
                         "2", std::runtime_error);
    CHECK(ran == 8);
  }
}

TEST_CASE("work of several threads at once") {
  ThreadPool pool(2);
  std::atomic<int> sum{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) pool.run(3, [&](int part) { sum += part; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(sum == 4 * 100 * 3);
}
