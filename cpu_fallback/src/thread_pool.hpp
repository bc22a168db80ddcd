// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "kiln/alarm.hpp"
#include "kiln/export.hpp"
#include "kiln/function_ref.hpp"

namespace kiln::cpu {

/// A fixed set of threads that share loops. The calling thread works too; with one thread
/// everything runs in the caller. Loops from several callers take turns.
class KILN_TEST_API ThreadPool {
 public:
  /// Where the system grants no more threads the pool has fewer than were asked for.
  /// @param before_each  called before each thread is made; tests throw std::system_error from it
  explicit ThreadPool(int threads, FunctionRef<void()> before_each = no_preparation);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(0) .. task(count - 1), each once, in any order, and waits for all of them.
  /// The first exception is passed on; the calls that had not begun are then left out. So they are
  /// when the alarm is due, and GaveUp is thrown.
  void for_each(std::int64_t count, FunctionRef<void(std::int64_t)> task,
                const Alarm* alarm = nullptr);

  /// The same, calling task(i, worker): calls at the same time have different numbers, which are
  /// below workers(count). Which calls share a number says nothing.
  void for_each_worker(std::int64_t count, FunctionRef<void(std::int64_t, int)> task,
                       const Alarm* alarm = nullptr);
  /// Most threads that take part in a loop, at least one.
  int workers(std::int64_t count) const noexcept;

 private:
  static constexpr auto no_preparation = [] {};

  void work(const std::stop_token& stop);
  void take_turns();
  void take_tasks();

  std::mutex caller_;  // one loop at a time
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable done_;
  const FunctionRef<void(std::int64_t, int)>* task_ = nullptr;
  const Alarm* alarm_ = nullptr;
  std::int64_t count_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::atomic<int> worker_{0};  ///< number of the next thread that finds something to do
  std::uint64_t loop_ = 0;
  int active_ = 0;
  std::exception_ptr error_;
  std::vector<std::jthread> workers_;  // last: stops before the rest goes
};

}  // namespace kiln::cpu
