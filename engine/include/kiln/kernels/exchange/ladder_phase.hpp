// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_statistics.hpp"
#include "kiln/kernels/exchange/ladder_update.hpp"
#include "kiln/kernels/exchange/replica_swap.hpp"

namespace kiln {

/// The three kernels of an exchange phase, one after the other: LadderStatistics, ReplicaSwap,
/// LadderUpdate. A GPU with clusters of blocks does the work of all three in one launch.
///
/// Class E: the bits are those of the three kernels.
struct KILN_API LadderPhase {
  static constexpr const char* name = "ladder_phase";
  static constexpr const char* summary =
      "makes one exchange phase of all ladders: ladder_statistics, replica_swap and ladder_update";
  /// Lanes of LadderStatistics that are left when `parts` is written.
  static constexpr std::int64_t parts_of_rung = 32;
  static constexpr std::int64_t n_tickets = 3;

  LadderStatistics statistics;
  ReplicaSwap swap;
  LadderUpdate update;
  /// [rungs * parts_of_rung], scratch: LadderStatistics::nothing() before and after each launch.
  View1<LadderStatistics::Part> parts;
  View1<std::uint32_t> tickets;  ///< [n_tickets], scratch: zero before and after each launch
};

}  // namespace kiln
