// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/state_block.hpp"

namespace kiln {

/// Copies the states of chosen slots: slot s of `to` becomes slot source[s] of `from`.
///
/// Both blocks have the same variables, layout and kind; they may differ in the number of slots.
/// They may be the same memory only if no slot that is copied from is copied to, or `source` is
/// empty. Class E.
struct KILN_API GatherStates {
  static constexpr const char* name = "gather_states";
  static constexpr const char* summary = "copies the state of a chosen source slot into each slot";

  StateBlock from;
  StateBlock to;
  View1<const std::int32_t> source;   ///< [to.slots]; negative: left alone; empty: the same slot
  View1<const std::int32_t> rung_of;  ///< [to.slots], used with `only`
  View1<const std::uint32_t>
      active_rungs;  ///< [rungs], slots of rungs with 0 are left alone; empty: all
  const RunControl* control = nullptr;  ///< nothing is done once stopped; null: always
  std::uint32_t step_offset = 0;        ///< number of the sweep of the tick before which it copies

  KILN_HD bool active() const {
    if (control == nullptr) return true;
    return control->stop == DeviceStop::none && (step_offset == 0 || control->active(step_offset));
  }

  /// The slot to copy into `slot`, or -1 to leave it alone.
  KILN_HD std::int64_t source_of(std::int64_t slot) const {
    if (active_rungs.size > 0 && active_rungs[rung_of[slot]] == 0) return -1;
    return source.size > 0 ? static_cast<std::int64_t>(source[slot]) : slot;
  }
};

}  // namespace kiln
