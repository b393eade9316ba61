// Teams: the threads that share a row. A team of 32 is a warp, a larger one a block.

struct Sum {
  template <typename T>
  DEVICE static T of(T a, T b) {
    return a + b;
  }
  template <typename T>
  DEVICE static T nothing() {
    return T(0);
  }
};
struct Prod {
  template <typename T>
  DEVICE static T of(T a, T b) {
    return a * b;
  }
  template <typename T>
  DEVICE static T nothing() {
    return T(1);
  }
};
struct AMax {
  template <typename T>
  DEVICE static T of(T a, T b) {
    return accurate::max(a, b);
  }
  template <typename T>
  DEVICE static T nothing() {
    return -infinity(T());
  }
};
struct AMin {
  template <typename T>
  DEVICE static T of(T a, T b) {
    return accurate::min(a, b);
  }
  template <typename T>
  DEVICE static T nothing() {
    return infinity(T());
  }
};

template <typename Operation, typename T>
DEVICE T across_lanes(T value) {
  return value;
}
template <typename Operation, typename T, int N>
DEVICE T across_lanes(const Lanes<T, N>& value) {
  T total = value.lane[0];
#pragma unroll
  for (int i = 1; i < N; ++i) total = Operation::of(total, value.lane[i]);
  return total;
}

// Over groups of THREADS neighbours of a warp; each of them has the result.
template <typename Operation, int THREADS, typename T>
DEVICE T across_group(T value) {
#pragma unroll
  for (int mask = THREADS / 2; mask > 0; mask /= 2) value = Operation::of(value, shuffle_xor(value, mask));
  return value;
}

template <int THREADS>
struct Team {
  static constexpr int kWarps = THREADS / 32;

  DEVICE static int in_block() { return thread_in_block() / THREADS; }
  DEVICE static int thread() { return thread_in_block() % THREADS; }
  DEVICE static void sync() {
    if constexpr (THREADS == 32) {
      sync_warp();
    } else {
      sync_block();
    }
  }

  // Over all threads, in a fixed order; each of them has the result. `partials` has room for one number a warp and is
  // nobody else's until the next synchronisation.
  template <typename Operation, typename V>
  DEVICE static typename Traits<V>::Real reduce(const V& value, typename Traits<V>::Real* partials) {
    auto total = across_group<Operation, 32>(across_lanes<Operation>(value));
    if constexpr (kWarps > 1) {
      if (thread() % 32 == 0) write_memory(partials + thread() / 32, total);
      sync();
      total = read_memory(partials);
#pragma unroll
      for (int warp = 1; warp < kWarps; ++warp) total = Operation::of(total, read_memory(partials + warp));
    }
    return total;
  }

  // The sum of the values of this thread and of those before it; `carry` is added to it, and becomes that of the last
  // thread.
  template <typename T>
  DEVICE static T running_sum(T value, T& carry, T* partials) {
    const int lane = thread() % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const T before = shuffle_up(value, distance);
      if (lane >= distance) value = value + before;
    }
    if (lane == 31) write_memory(partials + thread() / 32, value);
    sync();
    T before = carry;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
      if (warp == thread() / 32) value = value + before;
      before = before + read_memory(partials + warp);
    }
    carry = before;
    sync();
    return value;
  }
};

// Adds up the rows of `sums`, [slots, rows, columns], over the slots: into the first. A thread for each column.
template <typename T>
DEVICE void add_up_slots(T* sums, long long slots, long long columns) {
  const long long column = static_cast<long long>(block_in_grid()) * 32 + thread_in_block() % 32;
  const int group = thread_in_block() / 32;
  T* partials = reinterpret_cast<T*>(shared_memory());
  T total = 0;
  if (column < columns) {
    for (long long slot = group; slot < slots; slot += 8) total = total + read_memory(sums + slot * columns + column);
  }
  write_memory(partials + thread_in_block(), total);
  sync_block();
  if (group == 0 && column < columns) {
    for (int other = 1; other < 8; ++other) total = total + read_memory(partials + other * 32 + thread_in_block());
    write_memory(sums + column, total);
  }
}
