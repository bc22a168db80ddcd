// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_flush.hpp"
#include "kiln/kernels/exchange/ladder_statistics.hpp"
#include "kiln/kernels/exchange/ladder_update.hpp"
#include "kiln/kernels/exchange/replica_swap.hpp"

namespace kiln {

/// The three kernels of an exchange phase, one after the other: LadderStatistics, ReplicaSwap,
/// LadderUpdate. A GPU does the work of all three in one launch.
///
/// With a record the energies of some calls are kept there and added later, together: at the call
/// that finds the record full, or by LadderFlush. A round that ends drops what is recorded, as
/// LadderUpdate drops the sums.
///
/// At most 1024 rungs, as ReplicaSwap.
///
/// Class E: the bits are those of the three kernels, once LadderFlush has added what is recorded.
struct KILN_API LadderPhase {
  static constexpr const char* name = "ladder_phase";
  static constexpr const char* summary =
      "makes one exchange phase of all ladders: ladder_statistics, replica_swap and ladder_update";

  LadderStatistics statistics;
  ReplicaSwap swap;
  LadderUpdate update;
  LadderRecord record;  ///< empty: energies are added at once

  double bytes() const { return swap.bytes(); }
  /// Whether energies are recorded.
  KILN_HD bool records() const { return static_cast<bool>(record.energy) && update.plan.size > 0; }
};

}  // namespace kiln
