// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_statistics.hpp"

namespace kiln {

/// Energies that LadderPhase has recorded and LadderStatistics has yet to add: those of the last
/// calls, by rung. One half has them; while its calls are added, the other takes the next one.
struct LadderRecord {
  static constexpr std::int64_t max_calls = 8;
  static constexpr std::int64_t cells = LadderStatistics::cells_of_rung / 2;
  static constexpr std::int64_t parts_of_call = cells + 1;  ///< of a rung: its cells, then the sum
  static constexpr std::int64_t calls_at = 0, half_at = 1, ticket_at = 2, first_rung_at = 3;

  View1<double> energy;  ///< [2][calls][rungs][ladders], stored units
  View1<double> term;    ///< the same of the quantity weighted by lambda; empty: there is none
  /// [rungs][calls][parts_of_call], scratch: nothing() before and after each launch.
  View1<LadderStatistics::Part> parts;
  /// [state_size(rungs)], zero at the beginning: the number of recorded calls, the half that has
  /// them, tickets that are zero between launches, and which rungs have a reference.
  View1<std::uint32_t> state;
  std::int64_t calls = 1;  ///< that a half has room for

  /// Calls for so many replicas: enough to share the time of a launch, little memory for large
  /// batches.
  static std::int64_t calls_for(std::int64_t replicas) {
    return std::clamp<std::int64_t>((std::int64_t{1} << 19) / std::max<std::int64_t>(replicas, 1),
                                    1, max_calls);
  }
  KILN_HD std::int64_t n_calls() const { return state[calls_at]; }
  KILN_HD std::int64_t half() const { return state[half_at]; }
  /// 1 where a rung had a reference when calls were last added, so that it does not need one.
  KILN_HD std::uint32_t& referenced(std::int64_t rung, std::int64_t rungs) const {
    return state[first_rung_at + rungs + rung];
  }
  /// The energy of an entry if it counts, else infinity.
  KILN_HD static double best_of(const LadderRecord& record, std::int64_t i) {
    const double e = record.energy[i], v = record.term ? record.term[i] : e;
    return LadderStatistics::finite(e) && LadderStatistics::finite(v) ? e : exact::infinity();
  }
  static std::int64_t state_size(std::int64_t rungs) { return first_rung_at + 2 * rungs; }
  KILN_HD std::int64_t at(std::int64_t half, std::int64_t call, std::int64_t rung,
                          const LadderStatistics& of) const {
    return ((half * calls + call) * of.sums.size + rung) * of.ladders;
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
