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

/// Estimates of one quantity from the kept draws. A number that cannot be estimated is NaN:
/// everything where values are not finite, R-hat and effective draws where all values are equal or
/// a chain has fewer than four draws.
struct QuantitySummary {
  static constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

  std::string name;
  double mean = not_known, sd = not_known;  ///< sd of the quantity, divided by count - 1
  double q05 = not_known, q25 = not_known, q50 = not_known, q75 = not_known, q95 = not_known;
  double mcse_mean = not_known;  ///< Monte Carlo standard error of the mean
  double mcse_sd = not_known;    ///< and of sd, by the delta method
  double ess_bulk = not_known;   ///< effective draws for the centre: of normal scores
  double ess_tail = not_known;   ///< for the tails: the smaller one of the 5 % and 95 % quantiles
  double r_hat = not_known;      ///< kiln::split_r_hat
  double nested_r_hat = not_known;    ///< where Sample::super_chains says what is nested
  double ess_from_means = not_known;  ///< from the means of chains, where there are many
  std::int64_t not_finite = 0;        ///< values that are NaN or infinite
};

/// Summary and diagnostics of a sampling run. What is said "of kept draws" covers Sample::chains
/// chains, the rest all chains.
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
  /// Effective draws of all chains, kept or not, by the means of chains: of the worst unconstrained
  /// coordinate. NaN where the schedule tells nothing, or there are few chains.
  double ess_all_chains = not_known;
  std::int64_t worst_coordinate = -1;
  double seconds = 0;  ///< spent on this summary

  /// The extreme ones over log density and quantities; null if none is known.
  const QuantitySummary* worst_r_hat() const;
  const QuantitySummary* worst_nested_r_hat() const;
  const QuantitySummary* min_bulk() const;
  const QuantitySummary* min_tail() const;
};

/// How many chains it takes for the scatter of their means to be used: its relative standard error
/// is then a quarter.
inline constexpr std::int64_t chains_for_means = 32;

/// Limits that advice is given at.
inline constexpr double r_hat_limit = 1.01;
inline constexpr double e_bfmi_limit = 0.3;
/// Beyond one of these, parts of the density are missing, whatever R-hat says.
inline constexpr double e_bfmi_of_missing_parts = 0.2;
inline constexpr double divergence_limit = 0.001;  ///< of the transitions after the warm-up
inline constexpr double small_step = 0.01;         ///< in units of the metric
/// Effective draws below which quantiles and errors are themselves too uncertain: 100 per chain, of
/// four chains at most.
KILN_API double min_effective_draws(std::int64_t chains);

/// One quantity along chains; `super_chains` as in Sample.
/// @par Source  Vehtari, Gelman, Simpson, Carpenter, Bürkner, Bayesian Anal. 16 (2021) 667.
KILN_API QuantitySummary summarize_quantity(std::string name, const ChainValues& chains,
                                            std::int64_t super_chains = 0);

/// Everything about a sample. Time grows as that of sorting the kept values.
/// @throws InvalidArgument if the arrays of the sample do not have the sizes that it states.
KILN_API SampleSummary summarize(const Sample& sample);

/// Advice on the diagnostics, one sentence or two each; empty if all is well.
KILN_API std::vector<std::string> advice_on(const Sample& sample, const SampleSummary& summary);

}  // namespace kiln
