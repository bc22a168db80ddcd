// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/profile/device_clock.hpp"

#include <algorithm>
#include <chrono>

#include "kiln/backend.hpp"
#include "kiln/profile/tracer.hpp"

namespace kiln {

DeviceClock::~DeviceClock() = default;
Tracer::~Tracer() = default;

std::unique_ptr<DeviceClock> Backend::make_clock(Queue&) { return std::make_unique<HostClock>(); }

std::size_t HostClock::mark() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  times_.push_back(std::chrono::duration<double>(now).count());
  return first_ + times_.size() - 1;
}

double HostClock::seconds(std::size_t from, std::size_t to) {
  return times_[to - first_] - times_[from - first_];
}

void HostClock::forget_before(std::size_t first) {
  const std::size_t count = std::min(first - first_, times_.size());
  times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(count));
  first_ += count;
}

}  // namespace kiln
