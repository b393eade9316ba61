#pragma once

#include <ucontext.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace cellfuse::emulation {

/// Memory for the stack of a fiber, with a page below it that must not be touched.
class Stack {
 public:
  Stack();
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* begin() const;
  std::size_t size() const;

 private:
  void* memory_ = nullptr;
};

/// A function that can be left in the middle and resumed. It must have returned, or be abandoned, when the fiber is
/// destroyed; what it had on its stack is then not destroyed.
class Fiber {
 public:
  using Function = void (*)(void* argument);

  /// Starts or resumes the function; returns when it calls `leave` or returns.
  void enter();
  /// To whoever called `enter`.
  void leave();
  /// Makes this ready to run `function` on `stack` from its beginning.
  void prepare(Function function, void* argument, Stack& stack);

 private:
  static void run(unsigned low, unsigned high);

  Function function_ = nullptr;
  void* argument_ = nullptr;
  ucontext_t outside_{};
  ucontext_t inside_{};
};

/// Stacks, kept for reuse.
class StackPool {
 public:
  std::unique_ptr<Stack> take();
  void give_back(std::unique_ptr<Stack> stack) { spare_.push_back(std::move(stack)); }

 private:
  std::vector<std::unique_ptr<Stack>> spare_;
};

}  // namespace cellfuse::emulation
