// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// The random key of a group: the seed itself for group 0, a word drawn from it for the others, so
/// that a group run alone with that key gives its result in a batch.
KILN_HD inline std::uint64_t group_key(std::uint64_t seed, std::int64_t group) {
  if (group == 0) return seed;
  const DrawName name{seed, static_cast<std::uint64_t>(group) >> 32, 0, RngDomain::group_key, 0};
  const Words4 words = draw_quad(name, static_cast<std::uint32_t>(group));
  return (static_cast<std::uint64_t>(words[1]) << 32) | words[0];
}

/// Initialises every slot of a new batch: its draw identifiers, its group as rung, its index as
/// lineage, and no energy.
///
/// Groups are equal and contiguous. Padding belongs to group 0 and has separate draw identifiers,
/// so that it does not affect other slots. Class E.
struct KILN_API InitSlots {
  static constexpr const char* name = "init_slots";
  static constexpr const char* summary =
      "initialises the draw identifiers, rungs and lineages of the slots of a new batch";

  std::uint64_t seed = 1;
  std::int64_t replicas = 0;
  std::int64_t group_size = 1;
  View1<std::uint64_t> key;           ///< [slots]
  View1<std::uint32_t> replica;       ///< [slots], index within the group
  View1<std::int32_t> rung_of;        ///< [slots]
  View1<std::int32_t> replica_of;     ///< [slots]
  View1<double> energy, best_energy;  ///< [slots], +inf

  KILN_HD void operator()(std::int64_t slot) const {
    const bool counts = slot < replicas;
    const std::int64_t group = counts ? slot / group_size : 0;
    key[slot] = group_key(seed, group);
    replica[slot] = static_cast<std::uint32_t>(counts ? slot % group_size : slot);
    rung_of[slot] = static_cast<std::int32_t>(group);
    replica_of[slot] = static_cast<std::int32_t>(slot);
    energy[slot] = best_energy[slot] = exact::infinity();
  }
};

}  // namespace kiln
