#include "runtime/cpu/gemm.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/thread_pool.h"

namespace cellfuse::cpu {

namespace {

struct Matrix {
  const std::byte* data;
  std::int64_t row;  ///< bytes between rows
};

void blas(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a, int lda, const float* b, int ldb,
          float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}

void blas(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const double* a, int lda, const double* b,
          int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}

void blas(CBLAS_TRANSPOSE t, int rows, int columns, const float* w, int ldw, const float* x, float beta, float* y) {
  cblas_sgemv(CblasRowMajor, t, rows, columns, 1, w, ldw, x, 1, beta, y, 1);
}

void blas(CBLAS_TRANSPOSE t, int rows, int columns, const double* w, int ldw, const double* x, double beta, double* y) {
  cblas_dgemv(CblasRowMajor, t, rows, columns, 1, w, ldw, x, 1, beta, y, 1);
}

thread_local ThreadPool* shared_pool = nullptr;

/// Arithmetic below which waking another thread costs more than it saves.
constexpr double kWorthSharing = 8e6;

/// `rows` rows at equal distances.
template <typename T>
void multiply_here(const GemmCall& call, std::int64_t rows, Matrix a, Matrix b, Matrix c) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kMost = 1 << 30;  // rows a call: the library counts in 32 bits
  const auto n = static_cast<int>(call.n);
  const auto k = static_cast<int>(call.k);
  auto element = [](const std::byte* data) { return reinterpret_cast<const T*>(data); };
  auto target = [](const std::byte* data) { return reinterpret_cast<T*>(const_cast<std::byte*>(data)); };
  auto leading = [&](std::int64_t bytes, std::int64_t width) {
    return static_cast<int>(std::max(bytes / kBytes, width));
  };
  const bool contract_rows = call.contract_rows != 0;
  const T beta = call.accumulate != 0 || call.outer != 0 ? T{1} : T{0};
  const int matrix_row = contract_rows ? n : k;
  for (std::int64_t done = 0; done < rows; done += kMost) {
    const auto m = static_cast<int>(std::min(kMost, rows - done));
    const T* left = element(a.data + done * a.row);
    if (call.outer != 0) {
      blas(CblasTrans, CblasNoTrans, n, k, m, left, leading(a.row, n), element(b.data + done * b.row),
           leading(b.row, k), beta, target(c.data), k);
    } else if (m == 1) {
      blas(contract_rows ? CblasTrans : CblasNoTrans, contract_rows ? k : n, matrix_row, element(b.data), matrix_row,
           left, beta, target(c.data + done * c.row));
    } else {
      blas(CblasNoTrans, contract_rows ? CblasNoTrans : CblasTrans, m, n, k, left, leading(a.row, k), element(b.data),
           matrix_row, beta, target(c.data + done * c.row), leading(c.row, n));
    }
  }
}

/// The same, in parts: of the rows, or, where they are summed over, of the rows of the result.
template <typename T>
void multiply(const GemmCall& call, std::int64_t rows, Matrix a, Matrix b, Matrix c) {
  const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(call.n) * static_cast<double>(call.k);
  const std::int64_t whole = call.outer != 0 ? call.n : rows;
  const int parts = shared_pool == nullptr || flops < kWorthSharing
                        ? 1
                        : static_cast<int>(std::min<std::int64_t>(shared_pool->threads(), whole));
  if (parts <= 1) return multiply_here<T>(call, rows, a, b, c);
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  shared_pool->run(parts, [&](int part) {
    const std::int64_t first = whole * part / parts;
    const std::int64_t count = whole * (part + 1) / parts - first;
    if (call.outer != 0) {
      GemmCall mine = call;
      mine.n = count;
      const Matrix columns{a.data + first * kBytes, std::max(a.row, call.n * kBytes)};
      multiply_here<T>(mine, rows, columns, b, {c.data + first * call.k * kBytes, c.row});
    } else {
      multiply_here<T>(call, count, {a.data + first * a.row, a.row}, b, {c.data + first * c.row, c.row});
    }
  });
}

/// An axis of the rows: how many, and the distances in each operand. Distances are positive and wide enough for a row,
/// or the axis can be no leading dimension.
struct Axis {
  std::int64_t count = 1;
  std::int64_t distance[3] = {0, 0, 0};
};

class Rows {
 public:
  Rows(const GemmCall& call, std::int64_t bytes) {
    const bool outer = call.outer != 0;
    operands_[0] = call.a;
    operands_[1] = outer ? call.b : GemmOperand{call.b.data, 0, 0};
    operands_[2] = outer ? GemmOperand{call.c.data, 0, 0} : call.c;
    is_rows_[1] = outer;
    is_rows_[2] = !outer;
    width_[0] = (outer ? call.n : call.k) * bytes;
    width_[1] = call.k * bytes;
    width_[2] = call.n * bytes;
    axes_[0].count = call.rows_per_unit;
    axes_[1].count = call.samples;
    axes_[2].count = call.steps;
    for (int i = 0; i < 3; ++i) {
      if (!is_rows_[i]) continue;
      axes_[0].distance[i] = width_[i];
      axes_[1].distance[i] = operands_[i].batch_stride;
      axes_[2].distance[i] = operands_[i].time_stride;
    }
    bytes_ = bytes;
    forward();
    merge(1, 0);
    merge(2, 1);
    merge(1, 0);
  }

  /// Calls `body(rows, a, b, c)` for runs of rows at equal distances, as few as there can be.
  template <typename Body>
  void for_each(Body body) const {
    int longest = -1;
    for (int i = 0; i < 3; ++i) {
      if (axes_[i].count > 1 && can_lead(axes_[i]) && (longest < 0 || axes_[i].count > axes_[longest].count))
        longest = i;
    }
    const Axis none;
    const Axis& lead = longest < 0 ? none : axes_[longest];
    const Axis& first = longest == 0 ? none : axes_[0];
    const Axis& second = longest == 1 ? none : axes_[1];
    const Axis& third = longest == 2 ? none : axes_[2];
    for (std::int64_t t = 0; t < third.count; ++t) {
      for (std::int64_t s = 0; s < second.count; ++s) {
        for (std::int64_t r = 0; r < first.count; ++r) {
          auto at = [&](int i) {
            return Matrix{operands_[i].data + t * third.distance[i] + s * second.distance[i] + r * first.distance[i],
                          lead.distance[i]};
          };
          body(lead.count, at(0), at(1), at(2));
        }
      }
    }
  }

 private:
  bool can_lead(const Axis& axis) const {
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    for (int i = 0; i < 3; ++i) {
      const std::int64_t distance = axis.distance[i];
      if (!is_rows_[i]) continue;
      if (distance < width_[i] || distance % bytes_ != 0 || distance / bytes_ > kMost) return false;
    }
    return true;
  }

  /// An axis that runs backwards in every operand is walked the other way.
  void forward() {
    for (Axis& axis : axes_) {
      bool backwards = true;
      for (int i = 0; i < 3; ++i) backwards = backwards && (!is_rows_[i] || axis.distance[i] < 0);
      if (!backwards) continue;
      for (int i = 0; i < 3; ++i) {
        operands_[i].data += (axis.count - 1) * axis.distance[i];
        axis.distance[i] = -axis.distance[i];
      }
    }
  }

  /// Makes one axis of two where the outer goes on where the inner ends.
  void merge(int outer, int inner) {
    for (int i = 0; i < 3; ++i) {
      if (axes_[outer].count != 1 && axes_[inner].count != 1 &&
          axes_[outer].distance[i] != axes_[inner].count * axes_[inner].distance[i]) {
        return;
      }
    }
    const std::int64_t count = axes_[outer].count * axes_[inner].count;
    if (axes_[inner].count == 1) axes_[inner] = axes_[outer];
    axes_[inner].count = count;
    axes_[outer] = Axis();
  }

  GemmOperand operands_[3];
  bool is_rows_[3] = {true, false, false};
  std::int64_t width_[3];
  std::int64_t bytes_ = 1;  ///< of an element
  Axis axes_[3];
};

template <typename T>
void run(const GemmCall& call) {
  Rows(call, sizeof(T)).for_each([&](std::int64_t rows, Matrix a, Matrix b, Matrix c) {
    multiply<T>(call, rows, a, b, c);
  });
}

}  // namespace

SharedProducts::SharedProducts(ThreadPool* pool) : before_(shared_pool) { shared_pool = pool; }
SharedProducts::~SharedProducts() { shared_pool = before_; }

extern "C" void cellfuse_gemm_f32(const GemmCall* call) { run<float>(*call); }
extern "C" void cellfuse_gemm_f64(const GemmCall* call) { run<double>(*call); }

namespace {

template <typename T>
std::vector<T> numbers(std::int64_t count, std::uint32_t seed) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<T>(static_cast<double>(seed >> 8U) * 0x1p-24 - 0.5);
  }
  return values;
}

struct Kind {
  bool outer;
  bool contract_rows;
  bool accumulate;
  const char* name;
};

/// Largest difference from a plain loop, scaled by the length of the sum.
template <typename T>
double error_of(const Kind& kind, std::int64_t rows, std::int64_t n, std::int64_t k) {
  const std::int64_t inner = kind.outer ? rows : k;
  auto a = numbers<T>(rows * (kind.outer ? n : k), 1);
  auto b = numbers<T>(kind.outer ? rows * k : n * k, 2);
  auto c = numbers<T>(kind.outer ? n * k : rows * n, 3);
  const auto before = c;
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  auto bytes = [](std::vector<T>& values) { return reinterpret_cast<std::byte*>(values.data()); };
  GemmCall call{};
  call.a = {bytes(a), 0, (kind.outer ? n : k) * kBytes};
  call.b = {bytes(b), 0, kind.outer ? k * kBytes : 0};
  call.c = {bytes(c), 0, kind.outer ? 0 : n * kBytes};
  call.steps = call.rows_per_unit = 1;
  call.samples = rows;
  call.n = n;
  call.k = k;
  call.outer = kind.outer ? 1 : 0;
  call.contract_rows = kind.contract_rows ? 1 : 0;
  call.accumulate = kind.accumulate ? 1 : 0;
  run<T>(call);
  double worst = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::int64_t columns = kind.outer ? k : n;
    const std::int64_t row = static_cast<std::int64_t>(i) / columns;
    const std::int64_t column = static_cast<std::int64_t>(i) % columns;
    double want = kind.accumulate || kind.outer ? static_cast<double>(before[i]) : 0;
    for (std::int64_t j = 0; j < inner; ++j) {
      const std::int64_t left = kind.outer ? j * n + row : row * k + j;
      const std::int64_t right = kind.outer ? j * k + column : (kind.contract_rows ? j * n + column : column * k + j);
      want += static_cast<double>(a[static_cast<std::size_t>(left)]) *
              static_cast<double>(b[static_cast<std::size_t>(right)]);
    }
    const double difference = std::fabs(static_cast<double>(c[i]) - want) / static_cast<double>(inner);
    worst = difference >= 0 && difference <= worst ? worst : (std::isnan(difference) ? 1 : difference);
  }
  return worst;
}

template <typename T>
void check(const char* type) {
  constexpr Kind kKinds[] = {{false, false, false, "A W^T"},
                             {false, true, false, "A W"},
                             {false, false, true, "C + A W^T"},
                             {false, true, true, "C + A W"},
                             {true, false, true, "C + A^T B"}};
  constexpr std::int64_t kSizes[][3] = {{1, 48, 33}, {7, 33, 65}, {70, 64, 96}};
  const double tolerance = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const Kind& kind : kKinds) {
    for (const auto& size : kSizes) {
      const double error = error_of<T>(kind, size[0], size[1], size[2]);
      if (error <= tolerance) continue;
      throw DeviceError(fmt::format(
          "OpenBLAS computes wrong results on this processor: {} in {}, {} rows, n = {}, k = {}, is off by {:.3g} "
          "(configuration: {}; kernels: {}). A newer OpenBLAS may know this processor; setting the environment "
          "variable "
          "OPENBLAS_CORETYPE=Haswell makes an old one use other kernels.",
          kind.name, type, size[0], size[1], size[2], error, openblas_get_config(), openblas_get_corename()));
    }
  }
}

}  // namespace

void check_gemm_library() {
  // Thrown again to every caller, since the library stays wrong.
  static const std::string problem = [] {
    openblas_set_num_threads(1);
    try {
      check<float>("float32");
      check<double>("float64");
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  if (!problem.empty()) throw DeviceError(problem);
}

}  // namespace cellfuse::cpu
