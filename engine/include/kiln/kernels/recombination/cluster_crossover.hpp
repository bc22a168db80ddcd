// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/recombination/kernels.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"
#include "kiln/kernels/sweeps/temperature_update.hpp"

namespace kiln {

/// Gives two states the better of each cluster in which they differ.
///
/// The sites at which two states s and t differ fall into connected components of the coupling
/// graph, the *clusters*. No coupling joins two clusters, so the change of the energy of s by a
/// flip of several clusters is the sum of the changes of each, and a flip of the same cluster in t
/// changes the energy of t by the opposite. A cluster whose flip lowers the energy of s is flipped
/// in s, and one whose flip lowers the energy of t in t. Of all states that take each cluster from
/// s or from t, none has a lower energy than the new s. Clusters that change no energy stay as they
/// are, so s and t still differ. In a model without fields (`symmetric`) the agreeing sites are
/// used if they are fewer, as if one state was first flipped as a whole.
///
/// With `best` t is the best state of the same slot, which is left as it is. Else the pairs are
/// replicas i and i + distance_of(group) of a group, for each i in which that bit is 0. A replica
/// whose partner is beyond the group is left alone.
///
/// Changes of energies are integers and there is no draw. Class E. Groups lie one after the other.
/// @par Source  Tinós, Whitley, Ochoa, Evolutionary Computation 28 (2020) 255 (partition
/// crossover).
struct KILN_API ClusterCrossover {
  static constexpr const char* name = "cluster_crossover";
  static constexpr const char* summary =
      "gives two states the better of each cluster of spins in which they differ";
  static constexpr std::int32_t max_sites = 65536;
  /// Up to so many sites a GPU has room for the clusters in shared memory, so `room` may be empty.
  static constexpr std::int32_t sites_without_room = 12288;
  /// Pairs that are in work at the same time, each with a row of `room`.
  static constexpr std::int64_t teams = 132;

  PairwiseView model;                        ///< integral and not wide, with 2 total_sum < 2^31
  View2<std::uint32_t> state;                ///< packed32 [variable][word], updated in place
  View2<const std::uint32_t> best;           ///< packed32 [variable][word]; empty: pairs of slots
  View1<double> energy;                      ///< [slots], stored units, updated
  View1<const std::uint32_t> active_groups;  ///< [groups], 0: left alone; empty: all take part
  View1<const Cooling> cooling;  ///< [groups], whose rounds number the pairs; empty: `distance`
  std::int64_t groups = 1, group_size = 1;  ///< group_size: replicas of each
  std::int64_t distance = 1;                ///< a power of two
  View2<std::int32_t> room;  ///< [teams][2 n_sites], used by a GPU; see sites_without_room
  bool symmetric = false;
  const RunControl* control = nullptr;  ///< nothing is done once stopped; null: always

  KILN_HD bool is_active(std::int64_t group) const {
    return active_groups.size == 0 || active_groups[group] != 0;
  }
  /// The distances 1, 2, 4, ... below the size of a group follow each other, one a round.
  KILN_HD std::int64_t distance_of(std::int64_t group) const {
    if (cooling.size == 0) return distance;
    std::int64_t levels = 1;
    while ((std::int64_t{1} << levels) < group_size) ++levels;
    return std::int64_t{1} << (cooling[group].round % levels);
  }
  struct Pair {
    std::int64_t s = -1, t = -1;  ///< slots; t of `best`, if there is one
  };
  /// Pair `number` of slots() numbers; s < 0: there is none of that number.
  KILN_HD Pair pair_of(std::int64_t number) const {
    const std::int64_t group = number / group_size, first = group * group_size;
    if (!is_active(group)) return {};
    if (best.rows > 0) return {number, number};
    const std::int64_t apart = distance_of(group), place = number - first;
    const std::int64_t mine = place / apart * 2 * apart + place % apart;
    if (mine + apart >= group_size) return {};
    return {first + mine, first + mine + apart};
  }
  /// Replicas; slots that fill up a batch lie behind them.
  KILN_HD std::int64_t slots() const { return groups * group_size; }
  KILN_HD bool stopped() const { return control != nullptr && control->stop != DeviceStop::none; }
};

}  // namespace kiln
