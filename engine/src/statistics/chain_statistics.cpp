// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/statistics/chain_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kiln/errors.hpp"

#include "statistics/autocovariance.hpp"
#include "statistics/pooled_ranks.hpp"

namespace kiln {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

double mean_of(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

// Of a sample: divided by n - 1; 0 for a single value.
double variance_of(std::span<const double> x, double mean) {
  if (x.size() < 2) return 0;
  double sum = 0;
  for (const double value : x) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.size() - 1);
}

double variance_of(std::span<const double> x) { return variance_of(x, mean_of(x)); }

bool all_equal(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [&](double value) { return value == x.front(); });
}

struct Moments {
  double within = 0;    // mean variance of chains
  double of_means = 0;  // variance of their means
  std::vector<double> means;
};

Moments moments_of(const ChainValues& chains) {
  Moments m;
  for (std::int64_t c = 0; c < chains.chains; ++c) {
    const std::span<const double> x = chains.chain(c);
    m.means.push_back(mean_of(x));
    m.within += variance_of(x, m.means.back()) / static_cast<double>(chains.chains);
  }
  m.of_means = variance_of(m.means);
  return m;
}

}  // namespace

std::vector<double> split_chains(const ChainValues& chains) {
  const std::int64_t half = chains.draws / 2;
  std::vector<double> split;
  split.reserve(static_cast<std::size_t>(2 * half * chains.chains));
  for (std::int64_t c = 0; c < chains.chains; ++c) {
    const std::span<const double> x = chains.chain(c);
    split.insert(split.end(), x.begin(), x.begin() + half);
    split.insert(split.end(), x.end() - half, x.end());
  }
  return split;
}

std::vector<double> normal_scores(std::span<const double> values) {
  return PooledRanks(values).scores();
}

double potential_scale_reduction(const ChainValues& chains) {
  if (chains.chains < 2 || chains.draws < 2) return not_known;
  const Moments m = moments_of(chains);
  if (m.within == 0) return m.of_means == 0 ? not_known : infinite;
  const auto n = static_cast<double>(chains.draws);
  return std::sqrt((n - 1) / n + m.of_means / m.within);
}

double larger_scale_reduction(const ChainValues& scores, const ChainValues& of_distances) {
  const double bulk = potential_scale_reduction(scores);
  const double spread = potential_scale_reduction(of_distances);
  // Two values have equal distances from their median, of which nothing can be said.
  return std::isnan(spread) ? bulk : std::max(bulk, spread);
}

double split_r_hat(const ChainValues& chains) {
  if (chains.draws < 4) return not_known;
  const PooledRanks ranks(split_chains(chains));
  const std::vector<double> scores = ranks.scores(), spread = ranks.scores_of_distances();
  return larger_scale_reduction({scores, 2 * chains.chains, chains.draws / 2},
                                {spread, 2 * chains.chains, chains.draws / 2});
}

double nested_r_hat(const ChainValues& chains, std::int64_t super_chains) {
  if (super_chains < 2 || chains.chains % super_chains != 0) {
    throw InvalidArgument(
        "sample.super_chains",
        std::to_string(chains.chains) + " chains cannot be divided into " +
            std::to_string(super_chains) + " super-chains of equal size",
        "at least two super-chains; their number must divide the number of chains");
  }
  const std::int64_t size = chains.chains / super_chains;
  if (chains.draws < 1 || size * chains.draws < 2) return not_known;
  std::vector<double> means;
  double within = 0;
  for (std::int64_t k = 0; k < super_chains; ++k) {
    std::vector<double> members;
    for (std::int64_t c = k; c < chains.chains; c += super_chains) {
      const std::span<const double> chain = chains.chain(c);
      members.insert(members.end(), chain.begin(), chain.end());
    }
    const Moments m = moments_of({members, size, chains.draws});
    means.push_back(mean_of(m.means));
    within += (m.of_means + m.within) / static_cast<double>(super_chains);
  }
  const double between = variance_of(means);
  if (within == 0) return between == 0 ? not_known : infinite;
  return std::sqrt(1 + between / within);
}

double effective_draws(const ChainValues& chains) {
  if (chains.draws < 2 || chains.chains < 1 || all_equal(chains.values)) return not_known;
  Autocovariance covariance(chains);
  const auto n = static_cast<double>(chains.draws);
  const auto total = static_cast<double>(chains.values.size());
  const double within = covariance(0) * n / (n - 1);
  const double variance = covariance(0) + variance_of(covariance.means());
  const auto correlation = [&](std::int64_t lag) {
    return 1 - (within - covariance(lag)) / variance;
  };
  double pair = 1 + correlation(1), sum = pair;
  for (std::int64_t lag = 2; lag + 1 < chains.draws; lag += 2) {
    const double even = correlation(lag);
    const double next = even + correlation(lag + 1);
    if (!(next > 0)) {
      // Half a pair more: else chains whose correlations alternate would seem better than they are.
      sum += 0.5 * std::max(0.0, even);
      break;
    }
    pair = std::min(pair, next);
    sum += pair;
  }
  const double tau = std::max(2 * sum - 1, 1 / std::log10(total));
  return total / tau;
}

double effective_draws_from_means(const ChainValues& chains) {
  if (chains.chains < 2 || chains.draws < 1 || all_equal(chains.values)) return not_known;
  const double of_means = moments_of(chains).of_means;
  return static_cast<double>(chains.chains) * variance_of(chains.values) / of_means;
}

double energy_information_fraction(std::span<const double> energies) {
  if (energies.size() < 2) return not_known;
  const double mean = mean_of(energies);
  double steps = 0, spread = 0;
  for (std::size_t t = 0; t < energies.size(); ++t) {
    const double step = t == 0 ? 0.0 : energies[t] - energies[t - 1];
    steps += step * step;
    spread += (energies[t] - mean) * (energies[t] - mean);
  }
  return spread > 0 ? steps / spread : not_known;
}

}  // namespace kiln
