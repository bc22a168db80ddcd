// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"

namespace kiln {

/// Exchange by state in blocks of 32 ladders: exchanges the packed states of replicas whose
/// energies ReplicaSwap has exchanged.
///
/// Word number m of a row is the place of rung number m (LadderPlaces). For each lower rung number
/// a of a pair, with b its upper one, t = (a ^ b) & swapping[a] changes both words. Each bit of
/// `swapping` is set for disjoint pairs, so the order of pairs does not matter. Class E: no bit but
/// those of the mask changes, on any backend.
///
/// Launch it after ReplicaSwap or LadderPhase, in the same tick: a tick that has no exchange phase
/// leaves the states alone.
/// @par Source  None: it is an exchange of values.
struct KILN_API WordSwap {
  static constexpr const char* name = "word_swap";
  static constexpr const char* summary =
      "exchanges packed states between the rungs of blocks of 32 ladders, as the swap phase says";

  View2<std::uint32_t> state;           ///< packed32 [variable][word], columns = rung numbers
  View1<const std::uint32_t> swapping;  ///< [rung numbers], SwapBlocks::swapping
  View1<const std::int32_t> partner;    ///< [rung numbers], upper rungs; empty: the next ones
  std::int64_t rungs = 1;
  const RunControl* control = nullptr;
  std::uint32_t sweeps_per_tick = 1;

  /// No word changes at least.
  double bytes() const { return bytes_of(swapping) + bytes_of(partner); }
  /// Whether the tick has an exchange phase: only then `swapping` is of this tick.
  KILN_HD bool active() const {
    return control->active((control->tick_sweeps != 0 ? control->tick_sweeps : sweeps_per_tick) -
                           1);
  }
  /// The rung number with which a lower one exchanges.
  KILN_HD std::int64_t upper_of(std::int64_t number) const {
    return partner ? number / rungs * rungs + partner[number] : number + 1;
  }
};

}  // namespace kiln
