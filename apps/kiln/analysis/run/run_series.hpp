// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/telemetry/reader.hpp"

namespace kiln::cli {

/// Energies of replicas at the ends of epochs that are equally many sweeps apart.
struct ReplicaSeries {
  std::int64_t groups = 0, size = 0;  ///< a group has `size` replicas, and as many rungs
  std::int64_t epochs = 0;
  std::int64_t first_sweep = 0;   ///< sweeps done at the end of the first of these epochs
  std::int64_t sweeps_apart = 0;  ///< from one epoch to the next; 0 with less than two epochs
  std::int64_t last_sweep = 0;    ///< of the file: sweeps done at the end of its last whole epoch
  std::int64_t min_apart = 0;     ///< of the file: sweeps from its first epoch to the second
  std::int64_t max_apart = 0;     ///< of the file: sweeps between any two epochs in a row
  /// [replica], its number in the run. Replicas of a group stand together; in a block of 32
  /// ladders, which is one group of the file, those of each rung do.
  std::vector<std::int64_t> number;
  std::vector<std::vector<double>> energy;      ///< [replica][epoch]; NaN: not finite
  std::vector<std::vector<std::int32_t>> rung;  ///< [replica][epoch], 0 .. size - 1 in its group

  /// The energies on a rung of a group, whichever replica is there.
  /// @return [epoch], NaN where no replica is on the rung
  std::vector<double> on_rung(std::int64_t group, std::int64_t of_rung) const;
};

/// The longest stretch of equally distant epochs from sweep `begin` on; of equally long ones the
/// last. A file keeps every epoch at first and one in many later, so that a long run has two
/// stretches or more. An epoch of which records are missing ends a stretch.
/// @param most  epochs at most: the last ones of the stretch
/// @throws InputError `telemetry.format` if records name replicas or rungs that the run does not
/// have
ReplicaSeries replica_series(const TelemetryReader& telemetry, std::int64_t begin,
                             std::int64_t most);

/// The densest stretch of equally distant epochs, of equally dense ones the longest. Of a stretch
/// count its epochs from sweep `burn_in` on and beyond a third of the sweeps at its end, as if the
/// run had ended there. A stretch with less than `least` such epochs is taken only if there is no
/// other; then it is the longest.
/// @param most  epochs at most: the last ones of the stretch
/// @throws InputError as replica_series()
ReplicaSeries densest_series(const TelemetryReader& telemetry, std::int64_t burn_in,
                             std::int64_t least, std::int64_t most);

/// Replicas that have had equal energies at every epoch for long.
struct Clones {
  std::vector<std::int64_t> replicas;  ///< two or more, ascending
  std::int64_t since_sweep = 0;        ///< end of the first epoch from which all are equal
  std::int64_t epochs = 0;             ///< with equal energies, to the last epoch
  std::int64_t changes = 0;            ///< of this energy in these epochs
};

/// Sets of replicas whose energies are equal in all last epochs, `least` of them or more, in which
/// the energy changes `least` times or more. Replicas that rest at the same energy, as at the end
/// of an anneal, are therefore no clones. Independent replicas have equal energies by chance at
/// `least` epochs in a row with the probability of one such coincidence to the power of `least`.
std::vector<Clones> clones_of(const ReplicaSeries& series, std::int64_t least = 16);

}  // namespace kiln::cli
