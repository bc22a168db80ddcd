// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/statistics/chain_statistics.hpp"
#include "kiln/statistics/sample.hpp"

namespace kiln {

/// Estimates of one quantity from the kept draws. A number that cannot be estimated is NaN: all of
/// them if values are not finite; R-hat and effective draws if all values are equal or a chain has
/// fewer than four draws.
struct QuantitySummary {
  static constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

  std::string name;
  double mean = not_known, sd = not_known;  ///< sd of the quantity, divided by count - 1
  double q05 = not_known, q25 = not_known, q50 = not_known, q75 = not_known, q95 = not_known;
  double mcse_mean = not_known;       ///< Monte Carlo standard error of the mean
  double mcse_sd = not_known;         ///< and of sd, by the delta method
  double ess_bulk = not_known;        ///< effective draws for the centre: of normal scores
  double ess_tail = not_known;        ///< for the tails: the smaller of the 5 % and 95 % quantiles
  double r_hat = not_known;           ///< kiln::split_r_hat
  double nested_r_hat = not_known;    ///< if Sample::super_chains defines groups
  double ess_from_means = not_known;  ///< from the means of chains, if there are many
  std::int64_t not_finite = 0;        ///< values that are NaN or infinite
};

/// Summary and diagnostics of a sampling run. "Of kept draws" refers to Sample::chains chains, the
/// rest to all chains.
struct KILN_API SampleSummary {
  static constexpr double not_known = QuantitySummary::not_known;

  QuantitySummary log_density;              ///< named lp__
  std::vector<QuantitySummary> quantities;  ///< in the order of Sample::names

  double acceptance = not_known;      ///< mean acceptance probability of kept draws
  double leapfrogs = not_known;       ///< mean number of kept draws
  double e_bfmi = not_known;          ///< of all kept chains: sums over chains, then their ratio
  double e_bfmi_min = not_known;      ///< of the worst chain
  std::int64_t e_bfmi_low = 0;        ///< kept chains below 0.3
  std::int64_t depth_hits = 0;        ///< kept draws whose tree reached Sample::max_depth
  std::int64_t depth_hit_chains = 0;  ///< kept chains with such a draw
  /// Effective draws of all chains, kept or not, from the means of chains, for the worst
  /// unconstrained coordinate. NaN if the schedule does not report it, or there are few chains.
  double ess_all_chains = not_known;
  std::int64_t worst_coordinate = -1;
  double seconds = 0;  ///< spent on this summary

  /// The worst quantity among log density and quantities; null if unknown.
  const QuantitySummary* worst_r_hat() const;
  const QuantitySummary* worst_nested_r_hat() const;
  const QuantitySummary* min_bulk() const;
  const QuantitySummary* min_tail() const;
};

/// Number of chains from which the scatter of their means is used: its relative standard error is
/// then a quarter.
inline constexpr std::int64_t chains_for_means = 32;

/// Limits at which advice is given.
inline constexpr double r_hat_limit = 1.01;
inline constexpr double e_bfmi_limit = 0.3;
/// Beyond one of these the draws miss parts of the density, whatever R-hat is.
inline constexpr double e_bfmi_of_missing_parts = 0.2;
inline constexpr double divergence_limit = 0.001;  ///< of the transitions after the warm-up
inline constexpr double small_step = 0.01;         ///< in units of the metric
/// Effective draws below which quantiles and errors are too uncertain: 100 per chain, of four
/// chains at most.
KILN_API double min_effective_draws(std::int64_t chains);

/// Summarises one quantity along chains; `super_chains` as in Sample.
/// @par Source  Vehtari, Gelman, Simpson, Carpenter, Bürkner, Bayesian Anal. 16 (2021) 667.
KILN_API QuantitySummary summarize_quantity(std::string name, const ChainValues& chains,
                                            std::int64_t super_chains = 0);

/// Summarises a sample. Time grows as that of sorting the kept values.
/// @throws InvalidArgument if the arrays of the sample do not have the sizes that it states.
KILN_API SampleSummary summarize(const Sample& sample);

/// Advice on the diagnostics, one or two sentences each; empty if there is nothing to mend.
KILN_API std::vector<std::string> advice_on(const Sample& sample, const SampleSummary& summary);

}  // namespace kiln
