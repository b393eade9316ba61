// Memory: elements of any type as values, and back.

template <typename To>
struct As {
  DEVICE static To from(unsigned char x) { return x != 0 ? To(1) : To(0); }
  template <typename From>
  DEVICE static To from(From x) {
    return static_cast<To>(x);
  }
  DEVICE static To from(Half x) { return static_cast<To>(widen(x)); }
  DEVICE static To from(BFloat16 x) { return static_cast<To>(widen(x)); }
};
template <>
struct As<Half> {
  template <typename From>
  DEVICE static Half from(From x) {
    return narrow_to_half(As<float>::from(x));
  }
};
template <>
struct As<BFloat16> {
  template <typename From>
  DEVICE static BFloat16 from(From x) {
    return narrow_to_bfloat16(As<float>::from(x));
  }
};

template <typename T, int N>
struct alignas(sizeof(T) * N) Packed {
  T item[N];
};

template <typename V, typename T>
constexpr int kBytesOf = static_cast<int>(sizeof(T)) * Traits<V>::lanes;

template <typename T>
DEVICE bool is_aligned(const T* at, int bytes) {
  return reinterpret_cast<unsigned long long>(at) % static_cast<unsigned long long>(bytes) == 0;
}

// One element, or several `stride` apart, of memory that nobody writes while the kernel runs.
template <typename V, typename T>
DEVICE V load_strided(const T* at, long long stride) {
  V value;
#pragma unroll
  for (int i = 0; i < Traits<V>::lanes; ++i) {
    set_lane(value, i, As<typename Traits<V>::Real>::from(read_constant(at + i * stride)));
  }
  return value;
}

// Neighbouring elements, at an address that is a multiple of their size.
template <typename V, typename T>
DEVICE V load_aligned(const T* at) {
  constexpr int kLanes = Traits<V>::lanes;
  if constexpr (kBytesOf<V, T> > 16) {
    return load_strided<V>(at, 1);
  } else {
    const auto packed = read_constant(reinterpret_cast<const Packed<T, kLanes>*>(at));
    V value;
#pragma unroll
    for (int i = 0; i < kLanes; ++i) set_lane(value, i, As<typename Traits<V>::Real>::from(packed.item[i]));
    return value;
  }
}

// Neighbouring elements, anywhere.
template <typename V, typename T>
DEVICE V load(const T* at) {
  if constexpr (Traits<V>::lanes > 1) {
    if (is_aligned(at, kBytesOf<V, T>)) return load_aligned<V>(at);
  }
  return load_strided<V>(at, 1);
}

// The same for memory that this kernel also writes.
template <typename V, typename T>
DEVICE V read_strided(const T* at, long long stride) {
  V value;
#pragma unroll
  for (int i = 0; i < Traits<V>::lanes; ++i) {
    set_lane(value, i, As<typename Traits<V>::Real>::from(read_memory(at + i * stride)));
  }
  return value;
}

template <typename V, typename T>
DEVICE V read_aligned(const T* at) {
  constexpr int kLanes = Traits<V>::lanes;
  if constexpr (kBytesOf<V, T> > 16) {
    return read_strided<V>(at, 1);
  } else {
    const auto packed = read_memory(reinterpret_cast<const Packed<T, kLanes>*>(at));
    V value;
#pragma unroll
    for (int i = 0; i < kLanes; ++i) set_lane(value, i, As<typename Traits<V>::Real>::from(packed.item[i]));
    return value;
  }
}

template <typename V, typename T>
DEVICE V read(const T* at) {
  if constexpr (Traits<V>::lanes > 1) {
    if (is_aligned(at, kBytesOf<V, T>)) return read_aligned<V>(at);
  }
  return read_strided<V>(at, 1);
}

template <typename T, typename V>
DEVICE void store_strided(T* at, long long stride, const V& value) {
#pragma unroll
  for (int i = 0; i < Traits<V>::lanes; ++i) write_memory(at + i * stride, As<T>::from(lane_of(value, i)));
}

template <typename T, typename V>
DEVICE void store_aligned(T* at, const V& value) {
  constexpr int kLanes = Traits<V>::lanes;
  if constexpr (kBytesOf<V, T> > 16) {
    store_strided(at, 1, value);
  } else {
    Packed<T, kLanes> packed;
#pragma unroll
    for (int i = 0; i < kLanes; ++i) packed.item[i] = As<T>::from(lane_of(value, i));
    write_memory(reinterpret_cast<Packed<T, kLanes>*>(at), packed);
  }
}

template <typename T, typename V>
DEVICE void store(T* at, const V& value) {
  if constexpr (Traits<V>::lanes > 1) {
    if (is_aligned(at, kBytesOf<V, T>)) return store_aligned(at, value);
  }
  store_strided(at, 1, value);
}
