// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Makes the hypervolume of a front the reported value and stop criterion of a run:
/// control->best_key falls to the key of minus the volume. It also schedules the volume: `gate` is
/// a copy of the control that stops launches in all other ticks. After the volume it stops them if
/// the volume is no improvement; launches there keep the best front. A volume that is NaN is
/// ignored. Class E.
struct KILN_API FrontProgress {
  static constexpr const char* name = "front_progress";
  static constexpr const char* summary =
      "reports the hypervolume of a front as the best value of a run";

  View1<const double> volume;  ///< [1]
  RunControl* control = nullptr;
  RunControl* gate = nullptr;  ///< control block of the launches that compute the volume
  std::uint64_t every = 1;     ///< ticks from one volume to the next
  /// True: before these launches, sets the gate; false: after them, reads the volume
  bool open = false;

  KILN_HD void operator()() const {
    if (open) {
      *gate = *control;
      if (control->tick % every != 0 && gate->stop == DeviceStop::none) {
        gate->stop = DeviceStop::step_limit;
      }
      return;
    }
    if (gate->stop != DeviceStop::none) return;
    const bool known = volume[0] == volume[0];
    const std::uint64_t key = known ? exact::order_key(-volume[0]) : ~0ull;
    if (key < control->best_key) {
      control->best_key = key;
    } else {
      gate->stop = DeviceStop::step_limit;
    }
  }
};

}  // namespace kiln
