// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// Values of one quantity along chains of equal length: [chain][draw].
struct ChainValues {
  std::span<const double> values;
  std::int64_t chains = 0;
  std::int64_t draws = 0;  ///< of each chain

  std::span<const double> chain(std::int64_t c) const {
    return values.subspan(static_cast<std::size_t>(c * draws), static_cast<std::size_t>(draws));
  }
};

/// Splits every chain into two halves, so that a drift shows as a disagreement of chains. For an
/// odd number of draws the middle one is left out.
KILN_API std::vector<double> split_chains(const ChainValues& chains);

/// Normal scores of pooled values: Phi^-1((rank - 3/8) / (count + 1/4)); equal values share their
/// mean rank.
/// @par Source  Blom, Statistical Estimates and Transformed Beta-Variables (1958).
KILN_API std::vector<double> normal_scores(std::span<const double> values);

/// Potential scale reduction of unsplit chains: sqrt(((n-1)/n W + B/n) / W), W the mean variance
/// within chains and B/n the variance of their means. 1 if chains agree.
///
/// Infinite if chains are constant at different values; NaN if all values are equal, or with fewer
/// than two chains or draws.
/// fewer than two chains or draws.
/// @par Source  Gelman and Rubin, Statist. Sci. 7 (1992) 457.
KILN_API double potential_scale_reduction(const ChainValues& chains);

/// R-hat: the larger one of split chains' normal scores and of those of the distances from the
/// median, which detect different scales. NaN with fewer than four draws.
/// @par Source  Vehtari, Gelman, Simpson, Carpenter, Bürkner, Bayesian Anal. 16 (2021) 667.
KILN_API double split_r_hat(const ChainValues& chains);

/// Nested R-hat: chain c belongs to the group c modulo `super_chains`, whose chains started from
/// one state. sqrt(1 + B / W), B the variance of the means of the groups, W the mean over groups of
/// the variance between their chains plus the variance within them.
///
/// For many short chains: one draw each is enough. Stationary chains give about
/// sqrt(1 + 1 / (M * effective draws of a chain)), M the size of a group.
/// @throws InvalidArgument unless there are two groups at least, of equal size.
/// @par Source  Margossian, Hoffman, Sountsov, Riou-Durand, Vehtari, Gelman, Bayesian Anal. (2024).
KILN_API double nested_r_hat(const ChainValues& chains, std::int64_t super_chains);

/// Effective draws of all chains together, for their mean: N / tau, with tau = -1 + 2 (P_0 + P_1 +
/// ...), P_k the sum of the autocorrelations at lags 2k and 2k + 1, up to the first that is not
/// positive and none larger than the one before. Disagreement of chains counts as correlation. At
/// most N log10 N.
///
/// Chains are not split: pass split ones. NaN if all values are equal, or with fewer than two
/// draws. Autocorrelations cost O(N) each for the first lags, then one transform for all.
/// @par Source  Geyer, Statist. Sci. 7 (1992) 473; Vehtari et al. (2021), who combine chains so.
KILN_API double effective_draws(const ChainValues& chains);

/// Effective draws of all chains together from the scatter of their means: C s^2 / s_mean^2. It
/// needs no autocorrelations, misses errors that all chains share, and has a relative standard
/// error of sqrt(2 / (C - 1)): for many chains. NaN if all values are equal or there is one chain.
KILN_API double effective_draws_from_means(const ChainValues& chains);

/// Energy Bayesian fraction of missing information (E-BFMI) of one chain: sum (E_t - E_{t-1})^2
/// over sum (E_t - mean)^2. About 2 for independent energies; below 0.3 momenta change the energy
/// too little for the chain to reach the tails. NaN for fewer than two or equal energies.
/// @par Source  Betancourt, arXiv:1604.00695.
KILN_API double energy_information_fraction(std::span<const double> energies);

}  // namespace kiln
