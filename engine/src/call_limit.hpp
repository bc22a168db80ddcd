// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "kiln/problem.hpp"

namespace kiln {

/// While it lives, the calls of an objective that watches for it (Experiment::watch_stop) are cut
/// off when a stop is requested, and when the time of the run is up: a call may take longer than
/// any report point is away.
class CallLimit {
 public:
  CallLimit(const Problem& problem, std::optional<double> time_limit_s, std::stop_token stop);
  ~CallLimit();
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;

  /// The time of the run is up so much later, or earlier where the number is below 0.
  void extend(double seconds);

 private:
  struct Request {
    std::stop_source* calls;
    void operator()() const { calls->request_stop(); }
  };
  const Problem& problem_;
  std::stop_token stop_;
  std::stop_source calls_;
  std::optional<std::stop_callback<Request>> forward_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point deadline_;  // with the mutex
  std::condition_variable_any over_;
  std::jthread timer_;  // last: it uses the others
};

}  // namespace kiln
