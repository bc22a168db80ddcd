// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/statistics/draw_judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kiln/host_threads.hpp"

#include "statistics/draw_quality.hpp"
#include "statistics/nested_choice.hpp"

namespace kiln {
namespace {

constexpr double no_help = std::numeric_limits<double>::infinity();

/// The statistics of one quantity, as summarize_quantity() has them.
class LazyQuantity {
 public:
  LazyQuantity(const ChainValues& chains, const DrawColumns& draws)
      : chains_(chains),
        super_chains_(draws.super_chains),
        nested_(uses_nested(draws.super_chains, draws.chains, draws.all_chains)),
        finite_(std::ranges::all_of(chains.values, [](double x) { return std::isfinite(x); })) {
    const auto varies = [&](double x) { return x != chains.values.front(); };
    if (finite_ && chains.draws >= 4 && std::ranges::any_of(chains.values, varies)) {
      quality_.emplace(chains);
    }
  }

  bool finite() const { return finite_; }
  /// NaN: not known. Of the smaller one of two the first will do that fails.
  double value(const DrawCondition& condition) const {
    const DrawStatistic statistic = condition.statistic;
    if (nested_ && statistic == DrawStatistic::rhat)
      return nested_r_hat_of_kept(chains_, super_chains_);
    if (!quality_) return std::numeric_limits<double>::quiet_NaN();
    if (statistic == DrawStatistic::rhat) return quality_->r_hat();
    if (statistic == DrawStatistic::ess_tail) return quality_->ess_tail();
    const double bulk = quality_->ess_bulk();
    const bool decides = statistic == DrawStatistic::ess_bulk || bulk < condition.bound;
    return decides ? bulk : smaller_known(bulk, quality_->ess_tail());
  }

 private:
  ChainValues chains_;
  std::int64_t super_chains_;
  bool nested_, finite_;
  std::optional<DrawQuality> quality_;
};

DrawVerdict failed(const DrawCondition& condition, double value) {
  return {false, condition.wants_at_least() && value > 0 ? condition.bound / value : 1};
}

/// What conditions find in one quantity.
struct Asked {
  std::optional<DrawVerdict> failure;  ///< of the first that fails
  std::vector<bool> known;             ///< conditions whose statistic has a value
};

Asked ask(const std::vector<DrawCondition>& conditions, const DrawColumns& draws,
          std::size_t number) {
  Asked asked{{}, std::vector<bool>(conditions.size(), false)};
  const std::vector<double> values = draws.column(number);
  const LazyQuantity quantity({values, draws.chains, draws.draws}, draws);
  if (!quantity.finite()) {
    asked.failure = {false, no_help};  // these values remain among the draws
    return asked;
  }
  for (std::size_t c = 0; c < conditions.size() && !asked.failure; ++c) {
    const double value = quantity.value(conditions[c]);
    if (std::isnan(value)) continue;
    asked.known[c] = conditions[c].holds(value);
    if (!asked.known[c]) asked.failure = failed(conditions[c], value);
  }
  return asked;
}

}  // namespace

double max_effective_draws(std::int64_t chains, std::int64_t draws) noexcept {
  const double all = static_cast<double>(chains * draws);
  return all * std::max(1.0, std::log10(all));
}

DrawVerdict DrawJudge::look(const DrawConditions& conditions, const DrawColumns& draws) {
  std::vector<DrawCondition> of_quantities;
  bool few_divergences = true;
  const double most = max_effective_draws(draws.chains, draws.draws);
  for (const DrawCondition& condition : conditions.all) {
    if (condition.wants_at_least() && condition.bound > most) return failed(condition, most);
    if (condition.statistic != DrawStatistic::divergences) {
      of_quantities.push_back(condition);
    } else {
      few_divergences = condition.holds(static_cast<double>(draws.divergences));
    }
  }
  std::vector<bool> known(of_quantities.size(), false);
  const std::size_t count = of_quantities.empty() ? 0 : draws.quantities + 1, first = failed_;
  // The first is asked alone, because a look mostly ends with it.
  const auto threads = static_cast<std::size_t>(HostThreads::count());
  for (std::size_t i = 0, some = 1; i < count; i += some, some = std::min(threads, count - i)) {
    std::vector<Asked> asked(some);
    for_each_on_threads(static_cast<int>(some), static_cast<std::int64_t>(some),
                        [&](std::int64_t k) {
                          const auto at = static_cast<std::size_t>(k);
                          asked[at] = ask(of_quantities, draws, (first + i + at) % count);
                        });
    for (std::size_t k = 0; k < some; ++k) {
      failed_ = (first + i + k) % count;
      if (asked[k].failure) return *asked[k].failure;
      for (std::size_t c = 0; c < known.size(); ++c) known[c] = known[c] || asked[k].known[c];
    }
  }
  // Last: a run that catches up on looks knows the divergences of all its draws only.
  return {few_divergences && std::ranges::all_of(known, [](bool one) { return one; })};
}

}  // namespace kiln
