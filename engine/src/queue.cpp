// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "kiln/errors.hpp"
#include "kiln/executors/hold_flag.hpp"
#include "kiln/host_threads.hpp"

namespace kiln {

TickGraph::~TickGraph() = default;
LaunchObserver::~LaunchObserver() = default;
Queue::~Queue() = default;
HoldFlag::~HoldFlag() = default;

void* Queue::allocate(std::size_t bytes) {
  ++counters_.allocations;
  void* const memory = do_allocate(bytes);
  try {
    account_->take(memory, bytes, owner_);
  } catch (...) {
    do_deallocate(memory, bytes);
    throw;
  }
  return memory;
}

void Queue::deallocate(void* memory, std::size_t bytes) noexcept {
  account_->give(memory);
  do_deallocate(memory, bytes);
}

void* Queue::allocate_shared(std::size_t bytes) {
  ++counters_.allocations;
  void* const memory = do_allocate_shared(bytes);
  account_->take_pinned(bytes);
  return memory;
}
void Queue::deallocate_shared(void* memory, std::size_t bytes) noexcept {
  account_->give_pinned(bytes);
  do_deallocate_shared(memory, bytes);
}

void Queue::reserve(std::size_t) {}
ArenaState Queue::arena() const { return {}; }

namespace {
constexpr std::size_t shared_alignment = 64;
}  // namespace

void* Queue::do_allocate_shared(std::size_t bytes) {
  const std::size_t padded = (bytes + shared_alignment - 1) / shared_alignment * shared_alignment;
  void* const memory = std::aligned_alloc(shared_alignment, padded);
  if (memory == nullptr) {
    throw OutOfDeviceMemory("the host cannot allocate " + std::to_string(bytes) + " more bytes",
                            bytes, 0, Fix::fewer_replicas());
  }
  std::memset(memory, 0, padded);
  return memory;
}
void Queue::do_deallocate_shared(void* memory, std::size_t) noexcept { std::free(memory); }

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

void Queue::replay_loop(TickGraph& loop, std::uint64_t iterations) {
  ++counters_.graph_launches;
  do_replay_loop(loop, iterations);
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
void Queue::do_replay_loop(TickGraph&, std::uint64_t) { no_capture(backend_name()); }

std::unique_ptr<TickGraph> Queue::capture_loop(const RunControl*, const std::function<void()>&,
                                               const std::function<void()>&, std::string& refusal) {
  refusal = std::string("backend ") + backend_name() + " has no loops";
  return nullptr;
}

namespace {

class HostHoldFlag final : public HoldFlag {
 public:
  HostHoldFlag() { word_ = &value_; }
  void request() noexcept override { __atomic_store_n(&value_, 1u, __ATOMIC_RELEASE); }
  void clear() override { __atomic_store_n(&value_, 0u, __ATOMIC_RELEASE); }

 private:
  std::uint32_t value_ = 0;
};

}  // namespace

std::unique_ptr<HoldFlag> Queue::make_hold_flag() { return std::make_unique<HostHoldFlag>(); }

// Threads for each call: it is for backends whose own work is not on the host, and calls of
// objectives that are worth a thread.
void Queue::for_each_on_host(std::int64_t count, FunctionRef<void(std::int64_t)> task) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for_each_on_threads(cores, count, task);
}

}  // namespace kiln
