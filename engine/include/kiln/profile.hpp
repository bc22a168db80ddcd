// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// The time of the launches of one kernel in the profiled ticks.
struct KernelTime {
  std::string name;
  std::int64_t launches = 0;
  double time_s = 0;  ///< of the device
  double share = 0;   ///< of the time of all kernels
  /// What the launches must read and write at least; absent if the kernel does not say.
  std::optional<double> bytes;
  /// Seconds that a copy of as many bytes takes on this device: `bytes` /
  /// Profile::copy_bytes_per_s.
  std::optional<double> floor_s;
};

/// Where the time of a run went, measured in a sample of its ticks (RunOptions::profile).
struct Profile {
  std::int64_t ticks = 0;     ///< profiled: launched one by one, with the clock read around each
  std::int64_t of_ticks = 0;  ///< ticks of the run
  double device_s = 0;        ///< of the device, for the profiled ticks
  double gaps_s = 0;          ///< the part of device_s that no kernel of a component filled
  double busy_share = 0;      ///< 1 - gaps_s / device_s
  double host_s = 0;          ///< that the host took to enqueue the profiled ticks
  /// Ticks that were replayed as graphs between them, and their time on the device; 0: none were.
  std::int64_t replayed_ticks = 0;
  double replayed_s = 0;
  double copy_bytes_per_s = 0;      ///< bytes read and written by a copy; 0: not measured
  std::vector<KernelTime> kernels;  ///< largest time first
};

}  // namespace kiln
