// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/export.hpp"
#include "kiln/kernels/run/advance_tick.hpp"
#include "kiln/kernels/run/track_best.hpp"

namespace kiln {

/// TrackBest, then AdvanceTick. Where states are small a GPU does the work of both in one launch.
///
/// Class E: the bits are those of the two kernels.
struct KILN_API EndTick {
  static constexpr const char* name = "end_tick";
  static constexpr const char* summary =
      "updates the best states and ends a tick: track_best and advance_tick";

  TrackBest best;
  AdvanceTick advance;  ///< control is that of `best`

  double bytes() const { return best.bytes(); }
};

}  // namespace kiln
