// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <system_error>

namespace kiln::cpu {
namespace {

// Address space that threads leave to the rest of the program. Each takes MiBs for its stack; where
// that is limited they would take all of it, and the C library ends a program that has no room to
// note the destructor of a thread's variable.
class RoomBesideThreads {
 public:
  RoomBesideThreads()
      : place_(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  RoomBesideThreads(const RoomBesideThreads&) = delete;
  RoomBesideThreads& operator=(const RoomBesideThreads&) = delete;
  ~RoomBesideThreads() {
    if (place_ != MAP_FAILED) munmap(place_, bytes);
  }

 private:
  static constexpr std::size_t bytes = std::size_t{96} << 20;
  void* place_;
};

}  // namespace

ThreadPool::ThreadPool(int threads, FunctionRef<void()> before_each) {
  const RoomBesideThreads room;
  workers_.reserve(static_cast<std::size_t>(std::max(threads - 1, 0)));
  for (int i = 1; i < threads; ++i) {
    try {
      before_each();
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {
      // The answer does not depend on how many there are. The rest of the program needs some, too.
      for (int spare = 0; spare < 2 && !workers_.empty(); ++spare) workers_.pop_back();
      return;
    }
  }
}

ThreadPool::~ThreadPool() {
  for (std::jthread& worker : workers_) worker.request_stop();
}

namespace {
thread_local bool inside_loop = false;
}

void ThreadPool::take_turns() {
  inside_loop = true;
  take_tasks();
  inside_loop = false;
}

void ThreadPool::take_tasks() {
  int worker = -1;
  for (;;) {
    const std::int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= count_) return;
    if (worker < 0) worker = worker_.fetch_add(1, std::memory_order_relaxed);
    try {
      if (alarm_ != nullptr && alarm_->due()) throw GaveUp{};
      (*task_)(i, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      next_.store(count_, std::memory_order_relaxed);
    }
  }
}

void ThreadPool::work(const std::stop_token& stop) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!wake_.wait(lock, stop, [&] { return loop_ != seen; })) return;
    seen = loop_;
    if (task_ == nullptr) continue;  // the loop ended before this thread woke
    ++active_;
    lock.unlock();
    take_turns();
    lock.lock();
    if (--active_ == 0) done_.notify_one();
  }
}

int ThreadPool::workers(std::int64_t count) const noexcept {
  return static_cast<int>(std::clamp<std::int64_t>(count, 1, threads()));
}

void ThreadPool::for_each(std::int64_t count, FunctionRef<void(std::int64_t)> task,
                          const Alarm* alarm) {
  for_each_worker(
      count, [&](std::int64_t i, int) { task(i); }, alarm);
}

void ThreadPool::for_each_worker(std::int64_t count, FunctionRef<void(std::int64_t, int)> task,
                                 const Alarm* alarm) {
  // A task that starts a loop of its own (an objective that runs an engine) does it by itself.
  if (workers_.empty() || count <= 1 || inside_loop) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (alarm != nullptr && alarm->due()) throw GaveUp{};
      task(i, 0);
    }
    return;
  }
  const std::lock_guard turn(caller_);
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    alarm_ = alarm;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    worker_.store(0, std::memory_order_relaxed);
    error_ = nullptr;
    ++loop_;
  }
  wake_.notify_all();
  take_turns();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return active_ == 0; });
  task_ = nullptr;
  if (error_) std::rethrow_exception(error_);
}

}  // namespace kiln::cpu
