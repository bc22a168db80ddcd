// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/queue.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "kiln/errors.hpp"

namespace kiln {

TickGraph::~TickGraph() = default;
Queue::~Queue() = default;

void* Queue::allocate(std::size_t bytes) {
  ++counters_.allocations;
  return do_allocate(bytes);
}

void Queue::deallocate(void* memory, std::size_t bytes) noexcept { do_deallocate(memory, bytes); }

void Queue::upload(void* device, const void* host, std::size_t bytes) {
  ++counters_.copies;
  do_upload(device, host, bytes);
}

void Queue::download(void* host, const void* device, std::size_t bytes) {
  ++counters_.copies;
  ++counters_.synchronizations;
  do_download(host, device, bytes);
}

void Queue::wait() {
  ++counters_.synchronizations;
  do_wait();
}

void Queue::begin_timer() {
  do_begin_timer();
  timing_ = true;
}

double Queue::end_timer_s() {
  if (!timing_) throw InvalidArgument("queue.timer", "no timer was started on this queue");
  const double seconds = do_end_timer_s();
  timing_ = false;
  ++counters_.synchronizations;
  return seconds;
}

namespace {
std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}
}  // namespace

void Queue::do_begin_timer() {
  do_wait();
  timer_begin_ns_ = now_ns();
}

double Queue::do_end_timer_s() {
  do_wait();
  return 1e-9 * static_cast<double>(now_ns() - timer_begin_ns_);
}

void Queue::replay(TickGraph& graph) {
  ++counters_.graph_launches;
  do_replay(graph);
}

namespace {
[[noreturn]] void no_capture(const char* backend) {
  throw InvalidArgument("queue.capture",
                        std::string("backend ") + backend + " cannot capture ticks as graphs");
}
}  // namespace

void Queue::begin_capture() { no_capture(backend_name()); }
std::unique_ptr<TickGraph> Queue::end_capture() { no_capture(backend_name()); }
void Queue::do_replay(TickGraph&) { no_capture(backend_name()); }

// Threads for each call: it is for backends whose own work is not on the host, and calls of
// objectives that are worth a thread.
void Queue::for_each_on_host(std::int64_t count, FunctionRef<void(std::int64_t)> task) {
  const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
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
    helpers.reserve(static_cast<std::size_t>(std::min(cores, count)));
    try {
      for (std::int64_t i = 1; i < std::min(cores, count); ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // The system grants no more threads: those that are there share the calls.
    }
    work();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace kiln
