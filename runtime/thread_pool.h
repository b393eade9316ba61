#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cellfuse {

/// A fixed number of threads that share the parts of a piece of work with the thread that brings it. Started at the
/// first piece of more than one part. Several threads may bring work at once.
class ThreadPool {
 public:
  /// `threads` counts the caller: 1 starts none.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// Calls `part(0)` … `part(count - 1)`, each once, in any order and at the same time, and returns when all are done.
  /// Of the exceptions they throw, that of the lowest part is thrown here.
  void run(int count, const std::function<void(int)>& part);

 private:
  struct Work;

  std::shared_ptr<Work> enqueue(int count, const std::function<void(int)>& part);
  void start();
  void serve();
  static void take_parts(Work& work);

  const int threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Work>> queue_;
  std::vector<std::shared_ptr<Work>> spare_;
  std::vector<std::thread> workers_;
  bool stopping_ = false;
};

}  // namespace cellfuse
