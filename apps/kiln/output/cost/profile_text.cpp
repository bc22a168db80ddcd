// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/cost/profile_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

// "1.24 s", "31.0 ms", "812 us": three digits.
std::string duration_text(double seconds) {
  const auto digits = [](double value) {
    return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  };
  if (seconds >= 0.9995) return digits(seconds) + " s";
  if (seconds >= 0.9995e-3) return digits(seconds * 1e3) + " ms";
  return digits(seconds * 1e6) + " us";
}

std::vector<std::string> cells_of(const KernelTime& kernel) {
  const auto launches = static_cast<double>(kernel.launches);
  const auto size = [&](double bytes) {
    return human_bytes(static_cast<std::uint64_t>(std::llround(bytes / launches)));
  };
  return {kernel.name,
          fmt::format("{}", kernel.launches),
          fmt::format("{:.1f} %", 100 * kernel.share),
          duration_text(kernel.time_s / launches),
          kernel.floor_s ? duration_text(*kernel.floor_s / launches) : "-",
          kernel.bytes ? size(*kernel.bytes) : "-"};
}

}  // namespace

std::string profile_text(const Profile& profile) {
  if (profile.ticks == 0) {
    return fmt::format("profile no tick of {} was measured: the run is too short\n",
                       profile.of_ticks);
  }
  std::string text = fmt::format(
      "profile {} of {} ticks   device {}   kernels {:.1f} %   gaps {}   host {}\n", profile.ticks,
      profile.of_ticks, duration_text(profile.device_s), 100 * profile.busy_share,
      duration_text(profile.gaps_s), duration_text(profile.host_s));
  if (profile.replayed_ticks > 0) {
    text += fmt::format(
        "        a tick takes {} as measured, {} as replayed in a graph\n",
        duration_text(profile.device_s / static_cast<double>(profile.ticks)),
        duration_text(profile.replayed_s / static_cast<double>(profile.replayed_ticks)));
  }
  std::vector<std::vector<std::string>> rows{
      {"kernel", "launches", "share", "a launch", "floor", "moves"}};
  for (const KernelTime& kernel : profile.kernels) rows.push_back(cells_of(kernel));
  return text + table_text(rows, 1);
}

}  // namespace kiln::cli
