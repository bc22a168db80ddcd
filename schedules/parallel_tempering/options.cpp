// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/parallel_tempering.hpp"

#include "shared/ladder_options.hpp"

namespace kiln {

const OptionTable<ParallelTemperingOptions>& ParallelTemperingOptions::table() {
  using O = ParallelTemperingOptions;
  static const auto table = [] {
    OptionTable<O> all;
    ladder::add_exchange(ladder::add_rungs(all))
        .choice("cluster_moves", &O::cluster_moves, {"automatic", "on", "off"},
                "Whether to make isoenergetic cluster moves between pairs of ladders.",
                "A cluster move exchanges a cluster of variables between two replicas at equal "
                "temperature. Automatic makes cluster moves in pairwise models whose variables "
                "have at most 6 neighbours on average, if the run has at least two ladders. A rung "
                "on which clusters percolate makes no cluster moves.")
        .integer("cluster_interval", &O::cluster_interval, {1, INT32_MAX}, "checks",
                 "Interval between two cluster moves, in cadence checks.",
                 "A cadence check takes place every sweeps_per_swap sweeps.");
    return all;
  }();
  return table;
}

}  // namespace kiln
