#include "runtime/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <system_error>

namespace cellfuse {

struct ThreadPool::Work {
  void reset(int parts, const std::function<void(int)>& function) {
    count = parts;
    part = &function;
    errors.assign(static_cast<std::size_t>(parts), nullptr);
    next = 0;
    done = 0;
  }

  int count = 0;
  const std::function<void(int)>* part = nullptr;  // lives as long as a part is left
  std::vector<std::exception_ptr> errors;
  std::atomic<int> next{0};
  std::mutex mutex;
  std::condition_variable all_done;
  int done = 0;
};

ThreadPool::ThreadPool(int threads) : threads_(std::max(threads, 1)) {}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::start() {
  if (!workers_.empty()) return;
  try {
    for (int i = 1; i < threads_; ++i) workers_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // The system gives no more threads: those that are there, at least the caller, do all the work.
  }
}

void ThreadPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const std::shared_ptr<Work> work = queue_.front();
    if (work->next.load() >= work->count) {
      queue_.pop_front();
      continue;
    }
    lock.unlock();
    take_parts(*work);
    lock.lock();
  }
}

void ThreadPool::take_parts(Work& work) {
  for (int i = work.next.fetch_add(1); i < work.count; i = work.next.fetch_add(1)) {
    try {
      (*work.part)(i);
    } catch (...) {
      work.errors[static_cast<std::size_t>(i)] = std::current_exception();
    }
    const std::lock_guard lock(work.mutex);
    if (++work.done == work.count) work.all_done.notify_all();
  }
}

std::shared_ptr<ThreadPool::Work> ThreadPool::enqueue(int count, const std::function<void(int)>& part) {
  const std::lock_guard lock(mutex_);
  start();
  // A worker may still look at work that is done; what only the list of spares knows can be used again.
  const auto unused =
      std::find_if(spare_.begin(), spare_.end(), [](const auto& work) { return work.use_count() == 1; });
  std::shared_ptr<Work> work;
  if (unused != spare_.end()) {
    work = *unused;
    spare_.erase(unused);
  } else {
    work = std::make_shared<Work>();
  }
  work->reset(count, part);
  queue_.push_back(work);
  return work;
}

void ThreadPool::run(int count, const std::function<void(int)>& part) {
  if (count <= 0) return;
  if (count == 1 || threads_ == 1) {
    for (int i = 0; i < count; ++i) part(i);
    return;
  }
  const std::shared_ptr<Work> work = enqueue(count, part);
  wake_.notify_all();
  take_parts(*work);
  {
    std::unique_lock lock(work->mutex);
    work->all_done.wait(lock, [&] { return work->done == work->count; });
  }
  std::vector<std::exception_ptr> errors;
  {
    const std::lock_guard lock(mutex_);
    std::erase(queue_, work);
    if (std::any_of(work->errors.begin(), work->errors.end(), [](const auto& error) { return error != nullptr; })) {
      errors.swap(work->errors);
    }
    spare_.push_back(work);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace cellfuse
