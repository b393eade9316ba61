// Random numbers: Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011), a function of the call, the step, the sample,
// the place in the cell and the number of the element.

struct Draw {
  static constexpr unsigned kShared = 0xFFFFFFFFu;  // for the step or the sample: all have the same draw

  unsigned key[2];
  unsigned step;
  unsigned sample;
  unsigned place;
};

DEVICE Draw draw_at(const CallHeader* call, unsigned site, unsigned step, unsigned sample) {
  const unsigned long long key = call->seed + call->offset * 0x9E3779B97F4A7C15ULL;
  return {{static_cast<unsigned>(key), static_cast<unsigned>(key >> 32)},
          step,
          sample,
          site + (call->layer << 10) + (call->direction << 20)};
}

struct Philox {
  unsigned word[4];
};

DEVICE Philox philox(const Draw& draw, unsigned counter) {
  unsigned w0 = counter, w1 = draw.step, w2 = draw.sample, w3 = draw.place;
  unsigned k0 = draw.key[0], k1 = draw.key[1];
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long product0 = 0xD2511F53ULL * w0;
    const unsigned long long product1 = 0xCD9E8D57ULL * w2;
    w0 = static_cast<unsigned>(product1 >> 32) ^ w1 ^ k0;
    w1 = static_cast<unsigned>(product1);
    w2 = static_cast<unsigned>(product0 >> 32) ^ w3 ^ k1;
    w3 = static_cast<unsigned>(product0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{w0, w1, w2, w3}};
}

// Uniform in [0, 1), multiples of 2^-24; with several lanes the element is a multiple of their number.
template <typename V>
DEVICE V uniform(const Draw& draw, long long element) {
  using Real = typename Traits<V>::Real;
  const unsigned first = static_cast<unsigned>(element);
  const Philox block = philox(draw, first / 4);
  V value;
#pragma unroll
  for (int i = 0; i < Traits<V>::lanes; ++i) {
    const unsigned at = (first + i) % 4;
    const unsigned word = at == 0 ? block.word[0] : (at == 1 ? block.word[1] : (at == 2 ? block.word[2] : block.word[3]));
    set_lane(value, i, static_cast<Real>(word >> 8) * static_cast<Real>(1.0 / 16777216.0));
  }
  return value;
}
