// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "set_up.hpp"

#include <algorithm>
#include <system_error>

#include "console.hpp"

namespace kiln::cli {
namespace {

constexpr std::chrono::seconds unnoticed{1};
constexpr double min_limit_s = 1e-3;

}  // namespace

SetUp::SetUp(bool shown) {
  if (!shown) return;
  try {
    teller_ = std::jthread([this](const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      ended_.wait_for(lock, stop, unnoticed, [] { return false; });
      if (!stop.stop_requested())
        print_note("setting up; beyond a second it counts in the limit\n");
    });
  } catch (const std::system_error&) {
    return;  // no thread is granted: nothing is said
  }
}

void SetUp::end() {
  if (!teller_.joinable()) return;
  teller_.request_stop();
  teller_.join();
}

Budget SetUp::what_is_left_of(Budget budget) const {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
  const double counted = taken.count() - std::chrono::duration<double>(unnoticed).count();
  if (budget.time_limit_s && counted > 0) {
    budget.time_limit_s =
        std::max(std::min(min_limit_s, *budget.time_limit_s), *budget.time_limit_s - counted);
  }
  return budget;
}

}  // namespace kiln::cli
