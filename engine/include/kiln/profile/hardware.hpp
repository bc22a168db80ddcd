// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// Least, mean and largest of readings.
struct ReadingRange {
  double min = 0, mean = 0, max = 0;
};

/// What the sensors of a GPU said during a run. They are shown, and decide nothing. A quantity that
/// the device does not tell is absent.
struct HardwareReadings {
  std::optional<double> energy_j;             ///< of the whole GPU, from the first reading on
  std::optional<ReadingRange> power_w;        ///< of the whole GPU
  std::optional<ReadingRange> sm_clock_mhz;   ///< of the multiprocessors
  std::optional<ReadingRange> temperature_c;  ///< of the GPU
  std::vector<std::string> throttled;         ///< reasons, as "power" or "heat", each once
  std::vector<std::string> notes;             ///< on what was not read
};

}  // namespace kiln
