// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Ends a tick: counts its sweeps, notes an improvement of the best of all replicas, and raises the
/// stop flag when the target or the limit is reached, at the same tick on every device. A run that
/// has reached neither is held if the host asks for it (HoldFlag). Class E.
struct KILN_API AdvanceTick {
  static constexpr const char* name = "advance_tick";
  static constexpr const char* summary =
      "adds the sweeps of a tick to the step count, notes an improvement, and stops the run at its "
      "target or step limit";

  RunControl* control = nullptr;
  std::uint64_t sweeps = 0;             ///< of a full tick; 0: this tick has none
  BestLog log = {};                     ///< empty: nothing is noted
  const std::uint32_t* hold = nullptr;  ///< HoldFlag::word(); null: the run is never held

  KILN_HD void operator()() const {
    RunControl& c = *control;
    if (c.stop != DeviceStop::none) return;
    const bool held = is_asked_to_hold();  // first: a device waits for it and for `c` at once
    ++c.tick;
    // A continued run may have a smaller limit than the steps that it has done.
    const std::uint64_t left = c.step_limit > c.step ? c.step_limit - c.step : 0;
    const bool partial = c.tick_sweeps != 0 && sweeps != 0;
    const std::uint64_t wanted = partial ? c.tick_sweeps : sweeps;
    const std::uint64_t done = wanted < left ? wanted : left;
    c.step += done;
    if (partial) c.tick_sweeps = done < wanted ? wanted - done : sweeps;
    if (log.entries.size > 0) note(c);
    if (c.has_target != 0 && c.best_key != ~0ull && exact::from_order_key(c.best_key) <= c.target) {
      c.stop = DeviceStop::target;
    } else if (c.step >= c.step_limit) {
      c.stop = DeviceStop::step_limit;
    } else if (held) {
      c.stop = DeviceStop::held;
    }
  }

 private:
  // The host writes the word while ticks run.
  KILN_HD bool is_asked_to_hold() const {
    if (hold == nullptr) return false;
#if defined(__CUDA_ARCH__)
    return *static_cast<const volatile std::uint32_t*>(hold) != 0;
#else
    return __atomic_load_n(hold, __ATOMIC_ACQUIRE) != 0;
#endif
  }

  KILN_HD void note(RunControl& c) const {
    if (c.wanted == c.wanted) {
      if (c.finder != BestLog::no_finder) {
        BestLogEntry& last = log.entries[BestLog::place_of(c.noted - 1)];
        last.replica = BestLog::replica_of(c.finder);
        last.rung = BestLog::rung_of(c.finder);
      }
      c.wanted = exact::not_a_number();
    }
    if (c.best_key >= c.noted_key || c.tick < c.next_note) return;
    log.entries[BestLog::place_of(c.noted)] = {c.best_key, c.step, -1, 0};
    ++c.noted;
    c.noted_key = c.best_key;
    c.next_note = BestLog::next_after(c.tick);
    c.wanted = exact::from_order_key(c.best_key);
    c.finder = BestLog::no_finder;
  }
};

}  // namespace kiln
