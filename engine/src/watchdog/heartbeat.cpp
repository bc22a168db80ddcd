// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/watchdog/heartbeat.hpp"

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

thread_local Heartbeat* heartbeat_of_thread = nullptr;

}  // namespace

void Heartbeat::begin_work() noexcept {
  works_.fetch_add(1, std::memory_order_relaxed);
  signs_.fetch_add(1, std::memory_order_release);
}

void Heartbeat::end_work() noexcept {
  works_.fetch_sub(1, std::memory_order_relaxed);
  signs_.fetch_add(1, std::memory_order_release);
}

void Heartbeat::saw_ticks(std::uint64_t steps, double tick_s) noexcept {
  ticks_s_[ticks_++ % ticks_s_.size()] = tick_s;
  std::array<double, 31> sorted = ticks_s_;
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(ticks_, sorted.size()));
  const auto middle = sorted.begin() + (last - sorted.begin()) / 2;
  std::nth_element(sorted.begin(), middle, last);
  median_s_.store(*middle, std::memory_order_relaxed);
  steps_.store(steps, std::memory_order_relaxed);
  signs_.fetch_add(1, std::memory_order_release);
}

void Heartbeat::forget_ticks() noexcept {
  ticks_ = 0;
  median_s_.store(0, std::memory_order_relaxed);
}

Pulse Heartbeat::pulse() const noexcept {
  Pulse pulse;
  pulse.signs = signs_.load(std::memory_order_acquire);
  pulse.working = works_.load(std::memory_order_relaxed) > 0;
  pulse.steps = steps_.load(std::memory_order_relaxed);
  pulse.tick_s = median_s_.load(std::memory_order_relaxed);
  return pulse;
}

Heartbeat* Heartbeat::of_this_thread() noexcept { return heartbeat_of_thread; }

HeartbeatScope::HeartbeatScope(Heartbeat* heartbeat) noexcept
    : former_(std::exchange(heartbeat_of_thread, heartbeat)) {}

HeartbeatScope::~HeartbeatScope() { heartbeat_of_thread = former_; }

}  // namespace kiln
