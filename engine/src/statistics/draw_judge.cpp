// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/statistics/draw_judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

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
        nested_(uses_nested(draws.super_chains, draws.all_chains)),
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
    if (nested_ && statistic == DrawStatistic::rhat) return nested_r_hat(chains_, super_chains_);
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
  for (std::size_t i = 0; i < count; ++i) {
    failed_ = (first + i) % count;
    const std::vector<double> values = draws.column(failed_);
    const LazyQuantity quantity({values, draws.chains, draws.draws}, draws);
    if (!quantity.finite()) return {false, no_help};  // these values remain among the draws
    for (std::size_t c = 0; c < of_quantities.size(); ++c) {
      const double value = quantity.value(of_quantities[c]);
      if (std::isnan(value)) continue;
      if (!of_quantities[c].holds(value)) return failed(of_quantities[c], value);
      known[c] = true;
    }
  }
  // Last: a run that catches up on looks knows the divergences of all its draws only.
  return {few_divergences && std::ranges::all_of(known, [](bool one) { return one; })};
}

}  // namespace kiln
