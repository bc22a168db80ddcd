// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_statistics.hpp"

namespace kiln {

/// Energies of exchange phases by rung: a ring of calls of LadderPhase, of which the last `waiting`
/// have yet to be added to the sums. What the ring holds depends on the number of calls alone, not
/// on when they were added.
struct LadderRecord {
  static constexpr std::int64_t max_calls = 8;
  static constexpr std::int64_t cells = LadderStatistics::cells_of_rung / 2;
  static constexpr std::int64_t parts_of_call = cells + 1;  ///< of a rung: its cells, then the sum
  /// Places in `state`; the tickets of the rungs follow, then whether they have a reference.
  static constexpr std::int64_t next_at = 0, waiting_at = 1, ticket_at = 2, first_rung_at = 3;

  View1<double> energy;  ///< [calls + 1][rungs][ladders], stored units
  View1<double> term;    ///< the same of the quantity weighted by lambda; empty: there is none
  /// [rungs][calls][parts_of_call], scratch: nothing() before and after each launch.
  View1<LadderStatistics::Part> parts;
  /// [state_size(rungs)], zero at the beginning: the place of the next call, the number of calls
  /// that wait, tickets that are zero between launches, and which rungs have a reference.
  View1<std::uint32_t> state;
  std::int64_t calls = 1;  ///< that can wait

  /// Calls for so many replicas: enough to share the time of a launch, little memory for large
  /// batches.
  static std::int64_t calls_for(std::int64_t replicas) {
    return std::clamp<std::int64_t>((std::int64_t{1} << 19) / std::max<std::int64_t>(replicas, 1),
                                    1, max_calls);
  }
  /// Size of `state`.
  static std::int64_t state_size(std::int64_t rungs) { return first_rung_at + 2 * rungs; }

  /// Of the ring: the call that finds as many waiting as can records before those are added.
  KILN_HD std::int64_t places() const { return calls + 1; }
  /// The place of the next call.
  KILN_HD std::int64_t next() const { return state[next_at]; }
  /// Calls that have yet to be added, 0 .. calls.
  KILN_HD std::int64_t waiting() const { return state[waiting_at]; }
  /// The place of call i of those that wait.
  KILN_HD std::int64_t place_of(std::int64_t i) const {
    return (next() + places() - waiting() + i) % places();
  }
  /// The first entry of a rung at a place.
  KILN_HD std::int64_t at(std::int64_t place, std::int64_t rung, const LadderStatistics& of) const {
    return (place * of.sums.size + rung) * of.ladders;
  }
  /// 1 where a rung had a reference when calls were last added, so that it does not need one.
  KILN_HD std::uint32_t& referenced(std::int64_t rung, std::int64_t rungs) const {
    return state[first_rung_at + rungs + rung];
  }
};

/// Adds the energies that LadderPhase has recorded to the sums of their rungs.
///
/// Class E: the bits are those of one LadderStatistics for each recorded call, in their order.
/// Launch it before the sums are read. Beside a record nothing but LadderPhase and LadderFlush may
/// change the sums.
struct KILN_API LadderFlush {
  static constexpr const char* name = "ladder_flush";
  static constexpr const char* summary =
      "adds the energies that ladder_phase has recorded to the sums of their rungs";

  LadderStatistics statistics;
  LadderRecord record;
};

}  // namespace kiln
