// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// Draws of a sampling run on the host: the kept draws of the kept chains.
///
/// Values are those of Posterior::quantities. Draws made during adaptation are not included.
struct Sample {
  std::int64_t chains = 0;  ///< kept
  std::int64_t draws = 0;   ///< kept, of each chain
  std::int64_t thin = 1;    ///< transitions from one kept draw to the next
  std::int64_t all_chains = 0;
  std::int64_t all_draws = 0;  ///< transitions after warm-up, of each chain
  std::int64_t warmup = 0;     ///< transitions before
  /// Groups of chains with a common initial state: kept chain c belongs to group c modulo this
  /// number, so that the first chains all started from different states. 0: every chain has a
  /// separate initial state.
  std::int64_t super_chains = 0;
  std::int32_t max_depth = 0;  ///< largest depth of a NUTS tree; 0: lengths are fixed
  std::vector<std::string> names;

  std::vector<double> values;       ///< [chain][draw][quantity]
  std::vector<double> log_density;  ///< [chain][draw], constants dropped
  std::vector<double> hamiltonian;  ///< [chain][draw], of the chosen state with its momentum
  /// For each kept chain, over all transitions after warmup: sums of squared differences between
  /// consecutive Hamiltonians, and of squares about their mean. Empty: those of the kept draws, if
  /// these are all (thin = 1).
  std::vector<double> hamiltonian_steps, hamiltonian_squares;
  std::vector<double> acceptance;       ///< [chain][draw], acceptance probability
  std::vector<std::int32_t> leapfrogs;  ///< [chain][draw]
  std::vector<std::int32_t> depth;      ///< [chain][draw], of NUTS trees, else 0
  std::vector<std::uint8_t> divergent;  ///< [chain][draw]
  double step_size = 0;                 ///< after warm-up
  std::int64_t divergences = 0;         ///< of all chains, after warm-up
  double gradients = 0;                 ///< of all chains, after warm-up
  double warmup_gradients = 0;          ///< of all chains, in warm-up
  double warmup_s = 0;                  ///< seconds in warmup; 0: unknown
  double sampling_s = 0;                ///< seconds after warmup

  /// Over all chains and draws, by unconstrained coordinate, from streaming moments.
  std::vector<double> coordinate_mean, coordinate_variance;
  /// Variance of the means of the chains, by coordinate: coordinate_variance divided by it is the
  /// number of effective draws of one chain.
  std::vector<double> chain_mean_variance;

  double value(std::int64_t chain, std::int64_t draw, std::size_t quantity) const {
    return values[static_cast<std::size_t>(chain * draws + draw) * names.size() + quantity];
  }
};

}  // namespace kiln
