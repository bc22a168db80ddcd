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

/// A fixed set of threads that share loops. The calling thread works too; with one thread all work
/// runs in the caller. Loops from several callers take turns.
class KILN_TEST_API ThreadPool {
 public:
  /// If the system grants fewer threads, the pool has fewer than requested.
  /// @param before_each  called before each thread is made; tests throw std::system_error from it
  explicit ThreadPool(int threads, FunctionRef<void()> before_each = no_preparation);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(0) .. task(count - 1), each once, in any order, and waits for all of them. Rethrows
  /// the first exception and skips the calls that have not begun. If the alarm is due it skips them
  /// too, and throws GaveUp.
  void for_each(std::int64_t count, FunctionRef<void(std::int64_t)> task,
                const Alarm* alarm = nullptr);

  /// Calls task(i, worker): concurrent calls have different worker numbers below workers(count).
  /// The assignment of calls to numbers is arbitrary.
  void for_each_worker(std::int64_t count, FunctionRef<void(std::int64_t, int)> task,
                       const Alarm* alarm = nullptr);
  /// Maximum number of threads in a loop, at least one.
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
  std::atomic<int> worker_{0};  ///< number of the next thread that finds work
  std::uint64_t loop_ = 0;
  int active_ = 0;
  std::exception_ptr error_;
  std::vector<std::jthread> workers_;  // last: stops before the rest goes
};

}  // namespace kiln::cpu
