// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"

namespace kiln {
namespace {

constexpr std::array<double, forecast_stages - 1> stage_ends{0.1875, 0.375, 0.625};

void require_stage(std::size_t stage) {
  if (stage < forecast_stages) return;
  throw InvalidArgument("forecast.stage", fmt::format("there is no stage {}", stage),
                        fmt::format("0 to {}", forecast_stages - 1), "take it from stage_of()");
}

void require_level(double level) {
  if (level > 0 && level < 1) return;
  throw InvalidArgument("forecast.level", fmt::format("a band cannot have the level {}", level),
                        "more than 0 and less than 1", "0.9 for a band of 90 %");
}

// floor((n + 1) share), where rounding of the share must not cost a rank: 20 * (1 - 0.9) / 2 is 1.
std::size_t rank_of(std::size_t scores, double share) {
  return static_cast<std::size_t>(std::floor(static_cast<double>(scores + 1) * share + 1e-9));
}

double energy_of(double score, const Prediction& prediction, double best) {
  if (score == exact::infinity()) return best;
  return std::min(best, prediction.mean + prediction.deviation * score);
}

// How far rounding may take the energy of a score from the energy that the score was made of.
double rounding_of(double score, const Prediction& prediction) {
  if (score == exact::infinity()) return 0;
  return 0x1p-50 * (std::abs(prediction.mean) + std::abs(prediction.deviation * score));
}

}  // namespace

std::size_t stage_of(double now, double work) {
  const auto end = std::ranges::find_if(stage_ends, [&](double x) { return now < x * work; });
  return static_cast<std::size_t>(end - stage_ends.begin());
}

void Calibration::add(std::size_t stage, const Prediction& prediction, double best, double actual) {
  require_stage(stage);
  if (!std::isfinite(actual) || actual > best) {
    throw InvalidArgument(
        "forecast.actual",
        fmt::format("a run with the best energy {} cannot end with {}", best, actual),
        "a finite energy that is not above the best one",
        "give the running minimum, RunCurve::best()");
  }
  if (!std::isfinite(prediction.mean) || !(prediction.deviation > 0)) {
    throw InvalidArgument("forecast.prediction",
                          fmt::format("a prediction cannot have the mean {} and the deviation {}",
                                      prediction.mean, prediction.deviation),
                          "a finite mean and a positive deviation", "");
  }
  const double score =
      actual == best ? exact::infinity() : (actual - prediction.mean) / prediction.deviation;
  std::vector<double>& all = scores_[stage];
  all.insert(std::ranges::upper_bound(all, score), score);
}

std::int64_t Calibration::min_scores(double level) {
  require_level(level);
  auto scores = static_cast<std::int64_t>(2 / (1 - level)) - 2;
  while (rank_of(static_cast<std::size_t>(std::max<std::int64_t>(0, scores)), (1 - level) / 2) <
         1) {
    ++scores;
  }
  return std::max<std::int64_t>(scores, 1);
}

ForecastBand Calibration::band(std::size_t stage, const Prediction& prediction, double best,
                               double level) const {
  require_stage(stage);
  const std::int64_t needed = min_scores(level);
  const std::vector<double>& all = scores_[stage];
  if (static_cast<std::int64_t>(all.size()) < needed) {
    throw InvalidArgument(
        "forecast.scores",
        fmt::format("{} past runs are too few for a band of {:.6g} %", all.size(), 100 * level),
        fmt::format("at least {} runs that reached stage {}", needed, stage),
        "calibrate with more past runs of the family, or use a lower level");
  }
  const std::size_t both = rank_of(all.size(), (1 - level) / 2);
  const double top = all[all.size() - both];
  // One unchanged run more than the upper tail has: then the decision for one tail is the same
  // whichever of the n + 1 runs is the new one, or costs nothing, and the level holds exactly.
  const bool one_tail = both < all.size() && all[all.size() - both - 1] == exact::infinity();
  const std::size_t below = one_tail ? std::min(rank_of(all.size(), 1 - level), all.size()) : both;
  const double bottom = all[below - 1];
  return {energy_of(bottom, prediction, best) - rounding_of(bottom, prediction),
          std::min(best, energy_of(top, prediction, best) + rounding_of(top, prediction)), level};
}

std::vector<double> Calibration::ensemble(std::size_t stage, const Prediction& prediction,
                                          double best) const {
  require_stage(stage);
  std::vector<double> energies;
  for (const double score : scores_[stage]) energies.push_back(energy_of(score, prediction, best));
  return energies;
}

Calibration calibrate(const ForecastModel& model, std::span<const RunCurve> past) {
  Calibration calibration;
  for (const RunCurve& curve : past) {
    if (curve.empty()) continue;
    for (std::size_t stage = 0; stage < forecast_stages; ++stage) {
      const RunCurve before = curve.until(stage_fractions[stage] * curve.work());
      const std::optional<Prediction> prediction = model.predict(before, curve.work());
      if (prediction) calibration.add(stage, *prediction, before.best(), curve.best());
    }
  }
  return calibration;
}

}  // namespace kiln
