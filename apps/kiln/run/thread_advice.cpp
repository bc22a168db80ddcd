// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/thread_advice.hpp"

#include <fmt/format.h>

namespace kiln::cli {
namespace {

// Replicas that keep a thread busy: four words take no longer than one.
constexpr std::int64_t replicas_of_thread = 4 * 32;

std::int64_t divided_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

}  // namespace

void advise_on_threads(const DeviceInfo& device, Result& result) {
  if (device.gpu || result.stop != Stop::time_limit) return;
  if (result.draw_naming == DrawNaming::words) return;
  const std::int64_t replicas = result.work.replicas, threads = device.parallel_units;
  const std::int64_t busy = divided_up(replicas, replicas_of_thread);
  if (replicas <= 0 || busy >= threads) return;
  // A multiple: groups and ladders divide it as they divide the present number.
  const std::int64_t enough = replicas * divided_up(replicas_of_thread * threads, replicas);
  result.advice.push_back(
      fmt::format("Use --replicas {}: {} replicas keep only {} of the {} threads busy.", enough,
                  replicas, busy, threads));
}

}  // namespace kiln::cli
