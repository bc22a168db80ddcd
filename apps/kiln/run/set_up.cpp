// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/set_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "output/console.hpp"
#include "run/interruption.hpp"

namespace kiln::cli {
namespace {

constexpr std::chrono::seconds unnoticed{1};
constexpr double min_limit_s = 1e-3;

}  // namespace

void SetUp::begin(bool shown) {
  began_ = std::chrono::steady_clock::now();
  if (!shown) return;
  try {
    teller_ = std::jthread([this](const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      ended_.wait_for(lock, stop, unnoticed, [] { return false; });
      if (!stop.stop_requested())
        print_note("setting up; set-up time beyond one second counts towards the time limit\n");
    });
  } catch (const std::system_error&) {
    return;  // no thread is granted: nothing is said
  }
}

std::unique_ptr<RunFolder> SetUp::claim(const std::string& path) {
  const std::lock_guard lock(mutex_);  // a signal waits until the folder is known
  auto folder = std::make_unique<RunFolder>(path);
  folder_ = folder.get();
  return folder;
}

std::unique_ptr<RunFolder> SetUp::reclaim(const std::string& path) {
  const std::lock_guard lock(mutex_);
  auto folder = std::make_unique<RunFolder>(path, RunFolder::Continues{});
  folder_ = folder.get();
  return folder;
}

void SetUp::is(std::string doing) {
  const std::lock_guard lock(mutex_);
  doing_ = std::move(doing);
}

void SetUp::interrupt() {
  const std::lock_guard lock(mutex_);
  if (folder_ != nullptr) folder_->give_back();
  end_by_signal(doing_, "Kiln has found nothing yet");
}

void SetUp::end() {
  if (!teller_.joinable()) return;
  teller_.request_stop();
  teller_.join();
}

Budget SetUp::what_is_left_of(Budget budget) {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
  taken_s_ = taken.count();
  const double counted = taken_s_ - std::chrono::duration<double>(unnoticed).count();
  if (budget.time_limit_s && counted > 0) {
    budget.time_limit_s =
        std::max(std::min(min_limit_s, *budget.time_limit_s), *budget.time_limit_s - counted);
  }
  return budget;
}

// A search that hardly began looks like one that found little.
void SetUp::explain(const Budget& given, const Budget& left, Result& result) const {
  const bool counted = taken_s_ > 0 && given.time_limit_s && result.stop == Stop::time_limit;
  if (!counted) return;
  const bool used_up =
      *left.time_limit_s < *given.time_limit_s && *left.time_limit_s <= min_limit_s;
  const std::int64_t sweeps = result.work.sweeps;
  if (!used_up && sweeps > 0) return;
  result.advice.push_back(fmt::format(
      "Set-up took {:.1f} s, and the time limit is {:g} s: {}. Raise --time-limit.", taken_s_,
      *given.time_limit_s, sweeps == 0 ? "no sweep ran" : fmt::format("{} sweeps ran", sweeps)));
}

}  // namespace kiln::cli
