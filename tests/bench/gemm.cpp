// Emitted matrix products beside OpenBLAS, single-threaded, float32: microseconds a product and GFLOP/s.
//   gemm [--vector-bytes N] [--panel VECTORS] [M N K]...
// Both read the same matrix again and again, as the steps of a loop do.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "codegen/cpu/frame.h"
#include "runtime/cpu/jit.h"

using namespace cellfuse;

namespace {

struct Sizes {
  std::int64_t m, n, k;
};

/// Of this thread alone: other work on the machine does not count.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// [M, K] times a matrix, as the only stage of a loop.
struct Product {
  Plan plan;
  std::vector<std::vector<float>> memory;
  std::vector<std::byte*> data;
  std::vector<std::int64_t> time_stride;
  std::vector<std::int64_t> batch_stride;

  int buffer(const char* name, bool batch, const Shape& shape, Order order, int panel, std::int64_t samples) {
    Buffer buffer;
    buffer.name = name;
    buffer.batch = batch;
    buffer.shape = shape;
    buffer.order = order;
    buffer.panel = panel;
    plan.buffers.push_back(buffer);
    memory.emplace_back(static_cast<std::size_t>(buffer.elements() * samples + 16), 0.5F);
    time_stride.push_back(0);
    batch_stride.push_back(batch ? buffer.bytes() : 0);
    return static_cast<int>(plan.buffers.size()) - 1;
  }

  Product(const Sizes& s, GemmCode code, int vector_bytes, int panel) {
    plan.name = "product";
    plan.target.vector_bytes = vector_bytes;
    Gemm gemm;
    gemm.name = "gemm";
    gemm.code = code;
    gemm.n = s.n;
    gemm.k = s.k;
    const bool generated = code == GemmCode::Generated;
    gemm.a = buffer("a", true, {s.k}, Order::RowMajor, 0, s.m);
    gemm.b = buffer("w", false, {s.n, s.k}, generated ? Order::Panels : Order::RowMajor, panel, 1);
    gemm.c = buffer("c", true, {s.n}, Order::RowMajor, 0, s.m);
    TimeLoop loop;
    loop.name = "loop";
    loop.body.emplace_back(gemm);
    plan.chunk.emplace_back(loop);
    for (auto& block : memory) data.push_back(reinterpret_cast<std::byte*>(block.data()));
  }

  /// Seconds of one product: the least of several runs.
  double seconds(const Sizes& s) {
    const cpu::CompiledPlan code(plan);
    cpu::Frame frame{};
    frame.data = data.data();
    frame.time_stride = time_stride.data();
    frame.batch_stride = batch_stride.data();
    frame.samples = s.m;
    frame.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(2e8 / static_cast<double>(s.m * s.n * s.k)));
    double best = 1e9;
    for (int run = 0; run < 7; ++run) {
      const double start = processor_seconds();
      code.chunk()(&frame);
      best = std::min(best, (processor_seconds() - start) / static_cast<double>(frame.steps));
    }
    return best;
  }
};

}  // namespace

int main(int argc, char** argv) {
  int vector_bytes = cpu::host_target().vector_bytes;
  int vectors = 0;
  std::vector<std::int64_t> numbers;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--vector-bytes" && i + 1 < argc) {
      vector_bytes = std::atoi(argv[++i]);
    } else if (argument == "--panel" && i + 1 < argc) {
      vectors = std::atoi(argv[++i]);
    } else {
      numbers.push_back(std::atoll(argv[i]));
    }
  }
  std::vector<Sizes> sizes;
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) sizes.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  if (sizes.empty()) sizes = {{16, 1024, 256}, {1, 256, 64}, {32, 1024, 256}, {16, 2048, 512}, {1, 1024, 256}};
  fmt::print("{:>18} {:>20} {:>30}\n", "M, N, K", "OpenBLAS", "emitted, panel in vectors");
  for (const Sizes& s : sizes) {
    auto show = [&](double seconds) {
      return fmt::format("{:8.2f} us {:6.1f}", seconds * 1e6, 2e-9 * static_cast<double>(s.m * s.n * s.k) / seconds);
    };
    fmt::print("{:>18}", fmt::format("{}, {}, {}", s.m, s.n, s.k));
    fmt::print("   {}", show(Product(s, GemmCode::Library, vector_bytes, 0).seconds(s)));
    for (int v = 1; v <= 4; ++v) {
      if (vectors != 0 && v != vectors) continue;
      fmt::print("   {}: {}", v, show(Product(s, GemmCode::Generated, vector_bytes, v * vector_bytes / 4).seconds(s)));
    }
    fmt::print("\n");
  }
}
