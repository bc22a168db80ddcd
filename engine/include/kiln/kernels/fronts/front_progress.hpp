// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Makes the volume of a front what a run reports and stops by: control->best_key falls to the key
/// of minus the volume. It also says when the volume is to be computed next: `gate` is a copy of
/// the control that stops launches in all other ticks, and, behind the volume, where it is no
/// better than all before: what is launched then keeps the best front. A volume that is NaN says
/// nothing. Class E.
struct KILN_API FrontProgress {
  static constexpr const char* name = "front_progress";
  static constexpr const char* summary = "the volume of a front as the best value of a run";

  View1<const double> volume;  ///< [1]
  RunControl* control = nullptr;
  RunControl* gate = nullptr;  ///< what the launches that make the volume look at
  std::uint64_t every = 1;     ///< ticks from one volume to the next
  bool open = false;  ///< true: before these launches, sets the gate; false: after them, reads the
                      ///< volume

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
