#include "tests/emulation/emulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>

#include "tests/emulation/fiber.h"

namespace cellfuse::emulation {

namespace {

constexpr int kWarp = 32;
constexpr std::size_t kLargestShuffle = 16;

enum class Status : std::uint8_t { New, Ready, AtBlockBarrier, AtWarpBarrier, InShuffle, Done };

struct Thread {
  Status status = Status::New;
  Moment moment;
  Fiber fiber;
  std::unique_ptr<Stack> stack;
};

struct Warp {
  int threads = 0;
  int waiting = 0;  ///< at a barrier or in a shuffle
  int parity = 0;   ///< of shuffles: one may begin while the results of the last are fetched
  std::array<std::array<unsigned char, kLargestShuffle>, kWarp> values[2];
};

/// A launch at work on one of its blocks.
class Machine {
 public:
  Machine(KernelFunction kernel, const Grid& grid, const void* call, int iteration, const Schedule& schedule,
          MemoryWatch& watch)
      : kernel_(kernel),
        grid_(grid),
        call_(call),
        iteration_(iteration),
        schedule_(schedule),
        watch_(watch),
        random_(schedule.seed),
        shared_(static_cast<std::size_t>(grid.shared_bytes + 16)) {
    // 16 bytes are enough to align it.
    const auto begin = reinterpret_cast<std::uintptr_t>(shared_.data());
    shared_begin_ = shared_.data() + (16 - begin % 16) % 16;
  }

  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void run();

  void wait(Status status);
  void shuffle(const void* value, void* result, std::size_t bytes, int source);
  Thread& thread() { return *current_; }
  unsigned char* shared() { return shared_begin_; }
  MemoryWatch& watch() { return watch_; }
  int block() const { return block_; }
  int blocks() const { return static_cast<int>(grid_.blocks); }

  static Machine* at_work;

 private:
  std::vector<int> order(int count);
  void run_block();
  void resume(Thread& thread);
  void release();
  Warp& warp_of(const Thread& thread) { return warps_[static_cast<std::size_t>(thread.moment.thread / kWarp)]; }
  [[noreturn]] void report_deadlock();
  static void enter_kernel(void* machine);

  KernelFunction kernel_;
  Grid grid_;
  const void* call_;
  int iteration_;
  Schedule schedule_;
  MemoryWatch& watch_;
  std::mt19937 random_;
  std::vector<unsigned char> shared_;
  unsigned char* shared_begin_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Thread* current_ = nullptr;
  int block_ = 0;
  int at_block_barrier_ = 0;
  std::string failure_;
};

Machine* Machine::at_work = nullptr;

StackPool& stacks() {
  static StackPool pool;
  return pool;
}

std::vector<int> Machine::order(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  if (schedule_.order == Schedule::Order::Descending) std::ranges::reverse(result);
  if (schedule_.order == Schedule::Order::Random) std::ranges::shuffle(result, random_);
  return result;
}

Machine::~Machine() {
  watch_.remove(shared_begin_);
  at_work = nullptr;
}

void Machine::run() {
  at_work = this;
  watch_.begin_launch();
  watch_.add(shared_begin_, static_cast<std::size_t>(grid_.shared_bytes), "shared memory");
  for (int block : order(static_cast<int>(grid_.blocks))) {
    block_ = block;
    run_block();
  }
}

void Machine::run_block() {
  watch_.forget(shared_begin_);
  std::fill_n(shared_begin_, grid_.shared_bytes, static_cast<unsigned char>(0xFF));
  threads_ = std::vector<Thread>(static_cast<std::size_t>(grid_.threads));
  warps_ = std::vector<Warp>(static_cast<std::size_t>((grid_.threads + kWarp - 1) / kWarp));
  at_block_barrier_ = 0;
  for (int i = 0; i < grid_.threads; ++i) {
    Thread& thread = threads_[static_cast<std::size_t>(i)];
    thread.moment.block = block_;
    thread.moment.thread = i;
    ++warp_of(thread).threads;
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (int i : order(grid_.threads)) {
      Thread& thread = threads_[static_cast<std::size_t>(i)];
      if (thread.status != Status::New && thread.status != Status::Ready) continue;
      resume(thread);
      progress = true;
      if (!failure_.empty()) throw EmulationError(failure_);
    }
  }
  const bool done = std::ranges::all_of(threads_, [](const Thread& t) { return t.status == Status::Done; });
  if (!done) report_deadlock();
}

void Machine::resume(Thread& thread) {
  if (thread.status == Status::New) {
    thread.stack = stacks().take();
    thread.fiber.prepare(enter_kernel, this, *thread.stack);
  }
  thread.status = Status::Ready;
  current_ = &thread;
  thread.fiber.enter();
  if (thread.status == Status::Done) stacks().give_back(std::move(thread.stack));
}

void Machine::enter_kernel(void* machine) {
  auto* self = static_cast<Machine*>(machine);
  try {
    self->kernel_(self->call_, self->iteration_);
  } catch (const EmulationError& error) {
    self->failure_ = error.what();
  }
  self->current_->status = Status::Done;
}

/// Waits for the rest of the block or warp.
void Machine::wait(Status status) {
  Thread& self = *current_;
  self.status = status;
  if (status == Status::AtBlockBarrier) {
    ++at_block_barrier_;
  } else {
    ++warp_of(self).waiting;
  }
  release();
  self.fiber.leave();
}

/// Lets those go on that wait for nobody any more.
void Machine::release() {
  if (at_block_barrier_ == grid_.threads) {
    at_block_barrier_ = 0;
    for (Thread& thread : threads_) {
      thread.status = Status::Ready;
      ++thread.moment.block_barriers;
    }
    return;
  }
  Warp& warp = warp_of(*current_);
  if (warp.waiting < warp.threads) return;
  const int first = current_->moment.thread / kWarp * kWarp;
  for (int i = first; i < first + warp.threads; ++i) {
    Thread& thread = threads_[static_cast<std::size_t>(i)];
    if (thread.status != current_->status) {
      failure_ = fmt::format("block {}: threads {} and {} of a warp meet at different synchronisations", block_, i,
                             current_->moment.thread);
      return;
    }
  }
  warp.waiting = 0;
  const bool barrier = current_->status == Status::AtWarpBarrier;
  if (!barrier) warp.parity = 1 - warp.parity;
  for (int i = first; i < first + warp.threads; ++i) {
    Thread& thread = threads_[static_cast<std::size_t>(i)];
    thread.status = Status::Ready;
    if (barrier) ++thread.moment.warp_barriers;
  }
}

void Machine::shuffle(const void* value, void* result, std::size_t bytes, int source) {
  Warp& warp = warp_of(*current_);
  const int own = current_->moment.thread % kWarp;
  const int parity = warp.parity;
  std::memcpy(warp.values[parity][static_cast<std::size_t>(own)].data(), value, bytes);
  wait(Status::InShuffle);
  const int from = source >= 0 && source < warp.threads ? source : own;
  std::memcpy(result, warp.values[parity][static_cast<std::size_t>(from)].data(), bytes);
}

void Machine::report_deadlock() {
  int waiting = 0;
  int done = 0;
  int first_waiting = -1;
  int first_other = -1;
  for (const Thread& thread : threads_) {
    const bool at_barrier = thread.status == Status::AtBlockBarrier;
    waiting += at_barrier ? 1 : 0;
    done += thread.status == Status::Done ? 1 : 0;
    int& first = at_barrier ? first_waiting : first_other;
    if (first < 0) first = thread.moment.thread;
  }
  throw EmulationError(
      fmt::format("deadlock in block {}: of {} threads, {} wait at a barrier of the block (thread {} "
                  "first), {} have returned, the others (thread {} first) wait for their warp",
                  block_, grid_.threads, waiting, first_waiting, done, first_other));
}

}  // namespace

void launch(const std::string& name, KernelFunction kernel, const Grid& grid, const void* call, int iteration,
            const Schedule& schedule, MemoryWatch& watch) {
  try {
    Machine(kernel, grid, call, iteration, schedule, watch).run();
  } catch (const EmulationError& error) {
    throw EmulationError(fmt::format("kernel {}: {}", name, error.what()));
  }
}

int thread_in_block() { return Machine::at_work->thread().moment.thread; }
int block_in_grid() { return Machine::at_work->block(); }
int blocks_in_grid() { return Machine::at_work->blocks(); }
void sync_block() { Machine::at_work->wait(Status::AtBlockBarrier); }
void sync_warp() { Machine::at_work->wait(Status::AtWarpBarrier); }
int lane() { return thread_in_block() % kWarp; }
unsigned char* shared_memory() { return Machine::at_work->shared(); }

void shuffle(const void* value, void* result, std::size_t bytes, int source) {
  Machine::at_work->shuffle(value, result, bytes, source);
}

void on_read(const void* at, std::size_t bytes, bool constant) {
  Machine::at_work->watch().read(at, bytes, constant, Machine::at_work->thread().moment);
}

void on_write(const void* at, std::size_t bytes) {
  Machine::at_work->watch().write(at, bytes, Machine::at_work->thread().moment);
}

KernelTable& KernelTable::instance() {
  static KernelTable table;
  return table;
}

KernelFunction KernelTable::find(const std::string& name) const {
  auto it = functions_.find(name);
  if (it == functions_.end()) throw EmulationError("there is no kernel " + name);
  return it->second;
}

}  // namespace cellfuse::emulation
