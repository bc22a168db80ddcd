// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/ladder_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>

#include "kiln/device/normal.hpp"
#include "kiln/information/estimate_information.hpp"
#include "kiln/statistics/chain_statistics.hpp"

#include "analysis/run/ranks.hpp"

namespace kiln::cli {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
// Flow between rungs is weak, a few hundredths of a nat: many neighbours have a third of the spread
// of few, and the bias is the same in surrogates.
constexpr std::int32_t flow_neighbors = 16;

/// The energies of a rung in all ladders, one ladder after the other, as ranks in their ladder: a
/// ladder that rests in a valley of its own has other energies on all of its rungs, which is no
/// flow. Equal energies are told apart at random, because the mean of their ranks would name the
/// ladder. The gap between two ladders keeps delay vectors within a ladder.
Series pooled(const ReplicaSeries& series, std::int64_t rung, std::uint64_t seed) {
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(rung));
  Series pooled{fmt::format("rung {}", rung), {}};
  for (std::int64_t g = 0; g < series.groups; ++g) {
    const std::vector<double> energies = series.on_rung(g, rung);
    const bool varies =
        std::ranges::any_of(energies, [&](double x) { return x != energies.front(); });
    const std::vector<double> ranks = varies ? ranks_of(energies, random) : energies;
    pooled.values.insert(pooled.values.end(), ranks.begin(), ranks.end());
    pooled.values.push_back(nothing);
  }
  return pooled;
}

InformationOptions options_of(InformationMeasure measure, const RunAnalysisOptions& options) {
  InformationOptions how;
  how.measure = measure;
  how.k = flow_neighbors;
  how.surrogates = options.surrogates;
  how.surrogate_kind = SurrogateKind::rotation;
  how.seed = options.seed;
  return how;
}

double autocorrelation_sweeps(const ReplicaSeries& series, std::int64_t rung) {
  std::vector<double> all;
  for (std::int64_t g = 0; g < series.groups; ++g) {
    const std::vector<double> energies = series.on_rung(g, rung);
    all.insert(all.end(), energies.begin(), energies.end());
  }
  if (std::ranges::any_of(all, [](double x) { return std::isnan(x); })) return nothing;
  double draws = 0;
  for (std::int64_t g = 0; g < series.groups; ++g) {
    draws += effective_draws({std::span(all).subspan(static_cast<std::size_t>(g * series.epochs),
                                                     static_cast<std::size_t>(series.epochs)),
                              1, series.epochs});
  }
  return static_cast<double>(series.groups * series.epochs * series.sweeps_apart) / draws;
}

// Estimates of different links are uncorrelated if nothing flows, although they share series.
double combined_p_value(const std::vector<double>& p_values, std::int64_t surrogates) {
  constexpr double least = 1e-12;
  // A p-value that counts surrogates can be 1, which is no more than below all of them.
  const double most = 1 - 0.5 / static_cast<double>(surrogates + 1);
  double sum = 0;
  std::int64_t tests = 0;
  for (const double p : p_values) {
    if (std::isnan(p)) continue;
    sum -= normal_quantile(std::clamp(p, least, most));
    ++tests;
  }
  if (tests == 0) return nothing;
  return 0.5 * std::erfc(sum / std::sqrt(2.0 * static_cast<double>(tests)));
}

// Links of both directions are one family of tests.
void mark_significant(LadderAnalysis& ladder, const RunAnalysisOptions& options) {
  std::vector<InformationLink*> links;
  for (InformationLink& link : ladder.up) links.push_back(&link);
  for (InformationLink& link : ladder.down) links.push_back(&link);
  std::vector<double> p_values;
  for (const InformationLink* const link : links) p_values.push_back(link->estimate.p_value);
  ladder.p_value = combined_p_value(p_values, options.surrogates);
  const std::vector<double> rates = false_discovery_rates(p_values);
  for (std::size_t i = 0; i < links.size(); ++i) {
    links[i]->q_value = rates[i];
    links[i]->significant = rates[i] <= options.significance;
  }
}

}  // namespace

std::int64_t LadderAnalysis::significant_links() const {
  const auto significant = [](const InformationLink& link) { return link.significant; };
  return std::ranges::count_if(up, significant) + std::ranges::count_if(down, significant);
}

LadderAnalysis analyze_ladder(const ReplicaSeries& series, const RunAnalysisOptions& options,
                              Backend& backend) {
  LadderAnalysis ladder;
  ladder.ladders = series.groups;
  ladder.rungs = series.size;
  ladder.epochs = series.epochs;
  ladder.first_sweep = series.first_sweep;
  ladder.sweeps_apart = series.sweeps_apart;
  ladder.is_early = ladder.last_sweep() < series.last_sweep;
  ladder.is_thinned = series.sweeps_apart > series.min_apart;
  std::vector<Series> rungs;
  for (std::int64_t r = 0; r < series.size; ++r) rungs.push_back(pooled(series, r, options.seed));
  const InformationOptions flow = options_of(InformationMeasure::transfer_entropy, options);
  for (std::int32_t r = 0; r + 1 < static_cast<std::int32_t>(series.size); ++r) {
    ladder.up.push_back(estimate_information(rungs, {{r}, {r + 1}, {}}, flow, backend).links.at(0));
    ladder.down.push_back(
        estimate_information(rungs, {{r + 1}, {r}, {}}, flow, backend).links.at(0));
  }
  mark_significant(ladder, options);
  const InformationOptions storage = options_of(InformationMeasure::active_storage, options);
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(series.size); ++r) {
    ladder.memory.push_back(
        {autocorrelation_sweeps(series, r),
         estimate_information(rungs, {{}, {r}, {}}, storage, backend).links.at(0).estimate});
  }
  return ladder;
}

}  // namespace kiln::cli
