#include "tests/emulation/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace cellfuse::emulation {

namespace {
constexpr std::size_t kGuard = 1 << 12;
constexpr std::size_t kStack = 1 << 17;
}  // namespace

Stack::Stack() {
  memory_ = mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(memory_, kGuard, PROT_NONE) != 0) throw std::bad_alloc();
}

Stack::~Stack() { munmap(memory_, kGuard + kStack); }

void* Stack::begin() const { return static_cast<char*>(memory_) + kGuard; }

std::size_t Stack::size() const { return kStack; }

void Fiber::prepare(Function function, void* argument, Stack& stack) {
  function_ = function;
  argument_ = argument;
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack.begin();
  inside_.uc_stack.ss_size = stack.size();
  inside_.uc_link = &outside_;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(run), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(self >> 32));
}

void Fiber::run(unsigned low, unsigned high) {
  auto* self = reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(low) | static_cast<std::uintptr_t>(high) << 32);
  self->function_(self->argument_);
}

void Fiber::enter() { swapcontext(&outside_, &inside_); }

void Fiber::leave() { swapcontext(&inside_, &outside_); }

std::unique_ptr<Stack> StackPool::take() {
  if (spare_.empty()) return std::make_unique<Stack>();
  std::unique_ptr<Stack> stack = std::move(spare_.back());
  spare_.pop_back();
  return stack;
}

}  // namespace cellfuse::emulation
