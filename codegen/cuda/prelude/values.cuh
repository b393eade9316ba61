// Values: a number, or a few neighbouring ones that a thread computes side by side.

template <typename T, int N>
struct alignas(sizeof(T) * N) Lanes {
  T lane[N];

  Lanes() = default;
  DEVICE explicit Lanes(T value) {
#pragma unroll
    for (int i = 0; i < N; ++i) lane[i] = value;
  }
};

// What the lanes of a value are, and how many.
template <typename V>
struct Traits {
  using Real = V;
  static constexpr int lanes = 1;
};
template <typename T, int N>
struct Traits<Lanes<T, N>> {
  using Real = T;
  static constexpr int lanes = N;
};

template <typename T>
DEVICE T lane_of(const T& value, int) {
  return value;
}
template <typename T, int N>
DEVICE T lane_of(const Lanes<T, N>& value, int i) {
  return value.lane[i];
}
template <typename T>
DEVICE void set_lane(T& value, int, T lane) {
  value = lane;
}
template <typename T, int N>
DEVICE void set_lane(Lanes<T, N>& value, int i, T lane) {
  value.lane[i] = lane;
}

// The wider of two values.
template <typename A, typename B, bool FIRST = (Traits<A>::lanes >= Traits<B>::lanes)>
struct Wider {
  using Type = A;
};
template <typename A, typename B>
struct Wider<A, B, false> {
  using Type = B;
};

#define LANES_OPERATOR(OPERATOR)                                             \
  template <typename T, int N>                                               \
  DEVICE Lanes<T, N> operator OPERATOR(Lanes<T, N> a, const Lanes<T, N>& b) { \
    _Pragma("unroll") for (int i = 0; i < N; ++i) a.lane[i] = static_cast<T>(a.lane[i] OPERATOR b.lane[i]); \
    return a;                                                                \
  }                                                                          \
  template <typename T, int N>                                               \
  DEVICE Lanes<T, N> operator OPERATOR(const Lanes<T, N>& a, T b) {          \
    return a OPERATOR Lanes<T, N>(b);                                        \
  }                                                                          \
  template <typename T, int N>                                               \
  DEVICE Lanes<T, N> operator OPERATOR(T a, const Lanes<T, N>& b) {          \
    return Lanes<T, N>(a) OPERATOR b;                                        \
  }
LANES_OPERATOR(+)
LANES_OPERATOR(-)
LANES_OPERATOR(*)
LANES_OPERATOR(/)
LANES_OPERATOR(<)
LANES_OPERATOR(<=)
LANES_OPERATOR(>)
LANES_OPERATOR(>=)
LANES_OPERATOR(==)
LANES_OPERATOR(!=)
#undef LANES_OPERATOR

template <typename T, int N>
DEVICE Lanes<T, N> operator-(Lanes<T, N> a) {
#pragma unroll
  for (int i = 0; i < N; ++i) a.lane[i] = -a.lane[i];
  return a;
}

#define LANES_FUNCTION(FUNCTION)                                                             \
  template <typename T, int N>                                                               \
  DEVICE Lanes<T, N> FUNCTION(Lanes<T, N> x) {                                               \
    _Pragma("unroll") for (int i = 0; i < N; ++i) x.lane[i] = FUNCTION(x.lane[i]);           \
    return x;                                                                                \
  }
#define LANES_FUNCTION_OF_TWO(FUNCTION)                                                      \
  template <typename A, typename B, typename V = typename Wider<A, B>::Type, int N = Traits<V>::lanes> \
  DEVICE Lanes<typename Traits<V>::Real, N> FUNCTION(const A& a, const B& b) {               \
    Lanes<typename Traits<V>::Real, N> y;                                                    \
    _Pragma("unroll") for (int i = 0; i < N; ++i) y.lane[i] = FUNCTION(lane_of(a, i), lane_of(b, i)); \
    return y;                                                                                \
  }

namespace accurate {

DEVICE float sigmoid(float x) { return 1.0f / (1.0f + accurate::exp(-x)); }
DEVICE double sigmoid(double x) { return 1.0 / (1.0 + accurate::exp(-x)); }

// NaN wins.
DEVICE float min(float a, float b) { return a != a ? a : (b >= a ? a : b); }
DEVICE double min(double a, double b) { return a != a ? a : (b >= a ? a : b); }
DEVICE float max(float a, float b) { return a != a ? a : (b <= a ? a : b); }
DEVICE double max(double a, double b) { return a != a ? a : (b <= a ? a : b); }

LANES_FUNCTION(exp)
LANES_FUNCTION(expm1)
LANES_FUNCTION(log)
LANES_FUNCTION(log1p)
LANES_FUNCTION(sqrt)
LANES_FUNCTION(sin)
LANES_FUNCTION(cos)
LANES_FUNCTION(erf)
LANES_FUNCTION(tanh)
LANES_FUNCTION(sigmoid)
LANES_FUNCTION(floor)
LANES_FUNCTION(abs)
LANES_FUNCTION_OF_TWO(min)
LANES_FUNCTION_OF_TWO(max)
LANES_FUNCTION_OF_TWO(pow)

// `a` where the condition is not 0, else `b`.
template <typename C, typename A, typename B>
DEVICE auto where(const C& condition, const A& a, const B& b) {
  typename Wider<typename Wider<A, B>::Type, C>::Type y;
#pragma unroll
  for (int i = 0; i < Traits<decltype(y)>::lanes; ++i) {
    set_lane(y, i, lane_of(condition, i) != 0 ? lane_of(a, i) : lane_of(b, i));
  }
  return y;
}

}  // namespace accurate

namespace approximate {

using namespace accurate;
LANES_FUNCTION(exp)
LANES_FUNCTION(log)
LANES_FUNCTION(tanh)
LANES_FUNCTION(sigmoid)

}  // namespace approximate
#undef LANES_FUNCTION
#undef LANES_FUNCTION_OF_TWO

// first, first + 1, ... in the lanes.
template <typename V>
DEVICE V count_up(long long first) {
  V value;
#pragma unroll
  for (int i = 0; i < Traits<V>::lanes; ++i) set_lane(value, i, static_cast<typename Traits<V>::Real>(first + i));
  return value;
}
