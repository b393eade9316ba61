// What a kernel is told about the call it is part of.

// A tensor whose element e, for a sample at a step, is at data[step * time + sample * batch + e].
template <typename T>
struct Tensor {
  T* data;
  long long time;   // elements from step to step
  long long batch;  // elements from sample to sample

  DEVICE T* row(int sample) const { return data + sample * batch; }
  DEVICE T* row(int step, int sample) const { return data + step * time + sample * batch; }
};

struct CallHeader {
  int steps;                  // of the chunk at hand
  int samples;                // of the batch
  int segments;               // parts into which kernels that add up over the steps divide them
  int scratch_blocks;         // how many blocks `scratch` has room for
  unsigned layer;             // for random draws, like all that follows
  unsigned direction;
  long long first_sample;     // number of sample 0
  long long first_processed;  // steps walked before this chunk, masked ones too
  unsigned long long seed;
  unsigned long long offset;
  unsigned char* scratch;     // room for what does not fit into the memory of a block
};

// Rows of samples at steps, one after the other.
DEVICE int rows_of(const CallHeader* call) { return call->steps * call->samples; }

// Steps [first, last) of a segment.
DEVICE int first_of_segment(const CallHeader* call, int segment) {
  return static_cast<int>(static_cast<long long>(call->steps) * segment / call->segments);
}

// Masks are not always given.
DEVICE bool is_live(const Tensor<unsigned char>& live, int step, int sample) {
  return live.data == nullptr || read_constant(live.row(step, sample)) != 0;
}
template <typename Real>
DEVICE Real flag_of(const Tensor<unsigned char>& flags, int step, int sample) {
  return flags.data != nullptr && read_constant(flags.row(step, sample)) != 0 ? Real(1) : Real(0);
}
// The step a sample is at, as it counts its own.
DEVICE int index_of_step(const Tensor<int>& index, const CallHeader* call, int step, int sample) {
  return index.data == nullptr ? static_cast<int>(call->first_processed) + step
                               : read_constant(index.row(step, sample));
}

template <typename T>
DEVICE void exchange(T& a, T& b) {
  const T c = a;
  a = b;
  b = c;
}
