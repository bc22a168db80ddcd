// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "statistics/draw_quality.hpp"

#include <algorithm>
#include <cmath>

namespace kiln {

DrawQuality::DrawQuality(const ChainValues& chains)
    : own_split_(chains.draws % 2 == 0 ? std::vector<double>{} : split_chains(chains)),
      split_(chains.draws % 2 == 0 ? chains.values : std::span<const double>(own_split_)),
      chains_(2 * chains.chains),
      draws_(chains.draws / 2),
      ranks_(split_),
      scores_(ranks_.scores()) {
  if (chains.draws % 2 != 0) all_ranks_.emplace(chains.values);
}

double DrawQuality::quantile(double probability) const {
  return (all_ranks_ ? *all_ranks_ : ranks_).quantile(probability);
}

double DrawQuality::r_hat() const {
  return larger_scale_reduction(of(scores_), of(ranks_.scores_of_distances()));
}

double DrawQuality::ess_bulk() const { return effective_draws(of(scores_)); }

double DrawQuality::ess_tail() const {
  const double low = ess_up_to(quantile(0.05)), high = ess_up_to(quantile(0.95));
  return std::isnan(low) ? high : std::isnan(high) ? low : std::min(low, high);
}

// Of the indicator of values up to a quantile.
double DrawQuality::ess_up_to(double quantile) const {
  std::vector<double> below(split_.size());
  std::transform(split_.begin(), split_.end(), below.begin(),
                 [&](double value) { return value <= quantile ? 1.0 : 0.0; });
  return effective_draws(of(below));
}

}  // namespace kiln
