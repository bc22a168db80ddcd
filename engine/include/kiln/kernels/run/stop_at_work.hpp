// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Stops a run whose work has reached its limit. Launched after the end of a tick, where the work
/// of a tick is not known before it. A run that has stopped keeps its reason, unless it is only
/// held. Class E.
struct KILN_API StopAtWork {
  static constexpr const char* name = "stop_at_work";
  static constexpr const char* summary =
      "adds up counts of work, and stops the run if the sum has reached its work limit";

  View1<const std::uint64_t> counts;  ///< work since the run began, in parts
  std::uint64_t limit = 0;
  RunControl* control = nullptr;

  /// Given the sum of the counts.
  KILN_HD void finish(std::uint64_t sum) const {
    const bool runs = control->stop == DeviceStop::none || control->stop == DeviceStop::held;
    if (runs && sum >= limit) control->stop = DeviceStop::work_limit;
  }
};

}  // namespace kiln
