// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "call_limit.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Behind the limit, so that the run that lost its calls sees that its time is up.
constexpr Seconds behind_limit{1e-3};
constexpr Seconds longest{1e9};

}  // namespace

CallLimit::CallLimit(const Problem& problem, std::optional<double> time_limit_s,
                     std::stop_token stop)
    : problem_(problem), stop_(std::move(stop)) {
  if (!problem_.watches_stop()) return;
  if (!time_limit_s) {
    problem_.experiment->watch_stop(stop_);
    return;
  }
  forward_.emplace(stop_, Request{&calls_});
  problem_.experiment->watch_stop(calls_.get_token());
  const Seconds time = std::min(Seconds(*time_limit_s) + behind_limit, longest);
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  timer_ = std::jthread([this](const std::stop_token& ended) {
    std::unique_lock lock(mutex_);
    for (Clock::time_point until; until = deadline_, Clock::now() < until;) {
      over_.wait_until(lock, ended, until, [&] { return deadline_ != until; });
      if (ended.stop_requested()) return;
    }
    calls_.request_stop();
  });
}

void CallLimit::extend(double seconds) {
  const std::lock_guard lock(mutex_);
  deadline_ += std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  over_.notify_all();
}

// What is evaluated after a run is not under its limit.
CallLimit::~CallLimit() {
  if (forward_) problem_.experiment->watch_stop(stop_);
}

}  // namespace kiln
