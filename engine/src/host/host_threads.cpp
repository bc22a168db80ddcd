// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/host_threads.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "host/control_group.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace kiln {
namespace {

thread_local int thread_limit = 0;  // of this thread's loops; 0: none

int processors() {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

int granted_processors() {
  const int granted = control_group_limits().processors;
  return granted > 0 ? std::min(granted, processors()) : processors();
}

namespace {
constexpr int always_allowed = 64;  // threads, whatever the number of processors
}

int max_threads() { return std::max(always_allowed, 4 * granted_processors()); }

HostThreads::HostThreads(int threads) : before_(thread_limit) {
  if (threads <= 0) return;
  const int limit = threads <= always_allowed ? threads : std::min(threads, max_threads());
  thread_limit = before_ == 0 ? limit : std::min(before_, limit);
}

HostThreads::~HostThreads() { thread_limit = before_; }

int HostThreads::count() { return thread_limit == 0 ? granted_processors() : thread_limit; }

void for_each_on_threads(int threads, std::int64_t count, FunctionRef<void(std::int64_t)> task) {
  const auto most = std::min<std::int64_t>(threads, count);
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    const HostThreads alone(most > 1 ? 1 : 0);
    try {
      for (std::int64_t i = next++; i < count; i = next++) task(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    helpers.reserve(static_cast<std::size_t>(std::max<std::int64_t>(most - 1, 0)));
    try {
      for (std::int64_t i = 1; i < most; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // The system grants no more threads: those that are there share the calls.
    }
    work();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace kiln
