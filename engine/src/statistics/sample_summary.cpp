// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/statistics/sample_summary.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"

#include "statistics/draw_quality.hpp"
#include "statistics/nested_choice.hpp"
#include "statistics/pooled_ranks.hpp"

namespace kiln {
namespace {

template <class T>
void require_size(const std::vector<T>& array, std::int64_t size, const char* name) {
  if (static_cast<std::int64_t>(array.size()) == size) return;
  throw InvalidArgument(
      "sample.shape",
      std::string("the sample has ") + std::to_string(array.size()) + " values of " + name,
      std::to_string(size) + " values for the chains, draws and names of the sample");
}

void check_shape(const Sample& sample) {
  const std::int64_t kept = sample.chains * sample.draws;
  require_size(sample.values, kept * static_cast<std::int64_t>(sample.names.size()), "quantities");
  require_size(sample.log_density, kept, "log_density");
  require_size(sample.hamiltonian, kept, "hamiltonian");
  require_size(sample.acceptance, kept, "acceptance");
  require_size(sample.leapfrogs, kept, "leapfrogs");
  require_size(sample.depth, kept, "depth");
  require_size(sample.divergent, kept, "divergent");
}

template <class T>
double mean_of(const std::vector<T>& x) {
  if (x.empty()) return QuantitySummary::not_known;
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

// The standard deviation is a function of the mean square m2 of deviations, whose variance is
// (m4 - m2^2) / ESS; sd has that over 4 m2.
double error_of_sd(const DrawQuality& draws, double mean) {
  const std::span<const double> split = draws.split();
  std::vector<double> squares(split.size());
  std::transform(split.begin(), split.end(), squares.begin(),
                 [&](double value) { return (value - mean) * (value - mean); });
  const double m2 = mean_of(squares);
  double m4 = 0;
  for (const double square : squares) m4 += square * square;
  m4 /= static_cast<double>(squares.size());
  return std::sqrt((m4 - m2 * m2) / effective_draws(draws.of(squares)) / (4 * m2));
}

// Of PooledRanks or DrawQuality.
void add_quantiles(QuantitySummary& q, const auto& draws) {
  q.q05 = draws.quantile(0.05);
  q.q25 = draws.quantile(0.25);
  q.q50 = draws.quantile(0.50);
  q.q75 = draws.quantile(0.75);
  q.q95 = draws.quantile(0.95);
}

void add_moments(QuantitySummary& q, std::span<const double> values) {
  if (std::all_of(values.begin(), values.end(), [&](double x) { return x == values.front(); })) {
    q.mean = values.front();  // not what rounding makes of the sum
    q.sd = q.mcse_mean = q.mcse_sd = 0;
    return;
  }
  const auto count = static_cast<double>(values.size());
  q.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - q.mean) * (value - q.mean);
  q.sd = std::sqrt(squares / (count - 1));
}

void add_errors(QuantitySummary& q, const DrawQuality& draws) {
  q.r_hat = draws.r_hat();
  q.ess_bulk = draws.ess_bulk();
  q.ess_tail = draws.ess_tail();
  q.mcse_mean = q.sd / std::sqrt(effective_draws(draws.of(draws.split())));
  q.mcse_sd = error_of_sd(draws, q.mean);
}

struct EnergySums {
  double steps = 0;    // of squared differences between one Hamiltonian and the next
  double squares = 0;  // about the mean
};

// Between kept draws chains go on, so that thinned ones tell nothing of a single transition.
EnergySums energies_of(const Sample& sample, std::int64_t chain) {
  if (!sample.hamiltonian_steps.empty()) {
    const auto c = static_cast<std::size_t>(chain);
    return {sample.hamiltonian_steps[c], sample.hamiltonian_squares[c]};
  }
  if (sample.thin > 1) return {};
  const std::span<const double> energies =
      ChainValues{sample.hamiltonian, sample.chains, sample.draws}.chain(chain);
  EnergySums sums;
  const double mean =
      std::accumulate(energies.begin(), energies.end(), 0.0) / static_cast<double>(energies.size());
  for (const double energy : energies) sums.squares += (energy - mean) * (energy - mean);
  sums.steps = energy_information_fraction(energies) * sums.squares;
  return sums;
}

void add_energies(SampleSummary& summary, const Sample& sample) {
  EnergySums all;
  for (std::int64_t c = 0; c < sample.chains; ++c) {
    const EnergySums of = energies_of(sample, c);
    const double of_chain = of.steps / of.squares;
    if (!std::isfinite(of_chain)) continue;
    all.steps += of.steps;
    all.squares += of.squares;
    summary.e_bfmi_low += of_chain < e_bfmi_limit ? 1 : 0;
    // Not std::min: the first comparison is with NaN.
    if (!(summary.e_bfmi_min <= of_chain)) summary.e_bfmi_min = of_chain;
  }
  if (all.squares > 0) summary.e_bfmi = all.steps / all.squares;
}

void add_depths(SampleSummary& summary, const Sample& sample) {
  if (sample.max_depth <= 0) return;
  for (std::int64_t c = 0; c < sample.chains; ++c) {
    const auto begin = sample.depth.begin() + c * sample.draws;
    const std::int64_t hits = std::count_if(
        begin, begin + sample.draws, [&](std::int32_t depth) { return depth >= sample.max_depth; });
    summary.depth_hits += hits;
    summary.depth_hit_chains += hits > 0 ? 1 : 0;
  }
}

// Of one chain a coordinate has variance / variance of the means effective draws.
void add_coordinates(SampleSummary& summary, const Sample& sample) {
  if (sample.all_chains < chains_for_means) return;
  const std::size_t known =
      std::min(sample.coordinate_variance.size(), sample.chain_mean_variance.size());
  for (std::size_t i = 0; i < known; ++i) {
    const double ess = static_cast<double>(sample.all_chains) * sample.coordinate_variance[i] /
                       sample.chain_mean_variance[i];
    if (!std::isfinite(ess) || summary.ess_all_chains <= ess) continue;
    summary.ess_all_chains = ess;
    summary.worst_coordinate = static_cast<std::int64_t>(i);
  }
}

std::vector<double> column_of(const Sample& sample, std::size_t quantity) {
  const std::size_t width = sample.names.size();
  std::vector<double> column(static_cast<std::size_t>(sample.chains * sample.draws));
  for (std::size_t i = 0; i < column.size(); ++i) column[i] = sample.values[i * width + quantity];
  return column;
}

// The one for which `worse(value, than)` holds against all others.
template <class Worse>
const QuantitySummary* most(const SampleSummary& summary, double QuantitySummary::*member,
                            const Worse& worse) {
  const QuantitySummary* found = nullptr;
  const auto look = [&](const QuantitySummary& q) {
    if (std::isnan(q.*member)) return;
    if (found == nullptr || worse(q.*member, found->*member)) found = &q;
  };
  for (const QuantitySummary& q : summary.quantities) look(q);
  look(summary.log_density);
  return found;
}

}  // namespace

const QuantitySummary* SampleSummary::worst_r_hat() const {
  return most(*this, &QuantitySummary::r_hat, std::greater<>());
}
const QuantitySummary* SampleSummary::worst_nested_r_hat() const {
  return most(*this, &QuantitySummary::nested_r_hat, std::greater<>());
}
const QuantitySummary* SampleSummary::min_bulk() const {
  return most(*this, &QuantitySummary::ess_bulk, std::less<>());
}
const QuantitySummary* SampleSummary::min_tail() const {
  return most(*this, &QuantitySummary::ess_tail, std::less<>());
}

double min_effective_draws(std::int64_t chains) {
  return 100.0 * static_cast<double>(std::clamp<std::int64_t>(chains, 1, 4));
}

QuantitySummary summarize_quantity(std::string name, const ChainValues& chains,
                                   std::int64_t super_chains) {
  QuantitySummary q;
  q.name = std::move(name);
  q.not_finite = std::count_if(chains.values.begin(), chains.values.end(),
                               [](double value) { return !std::isfinite(value); });
  if (chains.values.empty() || q.not_finite > 0) return q;
  add_moments(q, chains.values);
  q.nested_r_hat = nested_r_hat_of_kept(chains, super_chains);
  if (chains.chains >= chains_for_means) q.ess_from_means = effective_draws_from_means(chains);
  if (chains.draws < 4 || q.sd == 0) {
    add_quantiles(q, PooledRanks(chains.values));
    return q;
  }
  const DrawQuality draws(chains);
  add_quantiles(q, draws);
  add_errors(q, draws);
  return q;
}

SampleSummary summarize(const Sample& sample) {
  const auto begin = std::chrono::steady_clock::now();
  check_shape(sample);
  SampleSummary summary;
  const auto of = [&](const std::string& name, const std::vector<double>& values) {
    return summarize_quantity(name, {values, sample.chains, sample.draws}, sample.super_chains);
  };
  const std::size_t quantities = sample.names.size();
  summary.quantities.resize(quantities);
  const auto summarize_one = [&](std::int64_t number) {
    const auto i = static_cast<std::size_t>(number);
    if (i == quantities) {
      summary.log_density = of("lp__", sample.log_density);
    } else {
      summary.quantities[i] = of(sample.names[i], column_of(sample, i));
    }
  };
  const auto summarize_all = [&](int threads) {
    for_each_on_threads(threads, static_cast<std::int64_t>(quantities) + 1, summarize_one);
  };
  try {
    summarize_all(HostThreads::count());
  } catch (const std::bad_alloc&) {
    summarize_all(1);  // at once the quantities take several times the memory
  }
  summary.acceptance = mean_of(sample.acceptance);
  summary.leapfrogs = mean_of(sample.leapfrogs);
  add_energies(summary, sample);
  add_depths(summary, sample);
  add_coordinates(summary, sample);
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return summary;
}

}  // namespace kiln
