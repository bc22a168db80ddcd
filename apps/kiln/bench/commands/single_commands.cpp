// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/single_commands.hpp"

#include <algorithm>
#include <stdexcept>

#include "bench/statistics.hpp"

namespace kiln::cli {
namespace {

constexpr double at_once_s = 50e-6;

// From the line of the ticks over the waits, by least squares: waits are known without an error,
// and numbers of ticks are rounded. After no wait a run makes a tick, too: these are left out.
double seconds_of_a_tick(std::vector<SentSingle> all) {
  std::erase_if(all, [](const SentSingle& one) { return one.wait_s <= at_once_s; });
  const auto n = static_cast<double>(all.size());
  double wait = 0, ticks = 0;
  for (const SentSingle& one : all) {
    wait += one.wait_s / n;
    ticks += one.ticks / n;
  }
  double squares = 0, products = 0;
  for (const SentSingle& one : all) {
    squares += (one.wait_s - wait) * (one.wait_s - wait);
    products += (one.wait_s - wait) * (one.ticks - ticks);
  }
  if (!(products > 0)) throw std::invalid_argument("longer waits had no more ticks");
  return squares / products;
}

}  // namespace

HoldTimes hold_times(const std::vector<SentSingle>& all) {
  HoldTimes times;
  times.tick_s = seconds_of_a_tick(all);
  std::vector<double> beside_ticks;
  for (const SentSingle& one : all) {
    if (one.wait_s > at_once_s) continue;
    beside_ticks.push_back(one.wait_s + one.answered_s - one.ticks * times.tick_s);
  }
  if (beside_ticks.empty()) throw std::invalid_argument("no command was sent at once");
  const double restart_s = std::max(0.0, spread_of(beside_ticks).median);
  for (const SentSingle& one : all) {
    const double held = restart_s + one.ticks * times.tick_s - one.wait_s;
    times.held_s.push_back(std::clamp(held, 0.0, one.answered_s));
    times.answered_s.push_back(one.answered_s);
  }
  return times;
}

}  // namespace kiln::cli
