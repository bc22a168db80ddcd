// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/forecast/forecast_model.hpp"
#include "kiln/kernels/information/kalman_step.hpp"

#include "forecast/clipped.hpp"
#include "idx.hpp"

namespace kiln {
namespace {

// Variance of the prior over that of the noise: the first two rows then fix the state.
constexpr double prior_variance = 1e8;
// Noise of this variance in units of the squared gain is rounding.
constexpr double min_noise = 1e-18;
constexpr std::array<double, 6> level_ratios{0, 0.01, 0.1, 1, 10, 100};
constexpr std::array<double, 7> slope_ratios{0, 1e-4, 1e-3, 0.01, 0.1, 1, 10};

struct TrendFit {
  double log_likelihood = -exact::infinity();
  double mean = 0, variance = 0;  ///< of the last row of the horizon
};

// A filter of a local linear trend with these ratios, through rows of which the last are missing.
TrendFit filter(const std::vector<double>& rows, double level_ratio, double slope_ratio) {
  const auto steps = static_cast<std::int64_t>(rows.size());
  const std::array<double, 4> transition{1, 1, 0, 1}, noise{level_ratio, 0, 0, slope_ratio};
  const std::array<double, 2> observation{1, 0};
  const double one = 1;
  std::array<double, 2> state{rows.front(), 0};
  std::array<double, 4> covariance{prior_variance, 0, 0, prior_variance};
  double log_likelihood = 0, distance = 0;
  std::int64_t observed = 0;
  std::uint32_t status = 0;
  std::vector<double> mean(rows.size()), variance(rows.size());
  KalmanStep kernel;
  kernel.state_size = kernel.diffuse = 2;
  kernel.transition = {transition.data(), 4, 1, 1};
  kernel.state_noise = {noise.data(), 4, 1, 1};
  kernel.observation = {observation.data(), 2, 1, 1};
  kernel.observation_noise = {&one, 1, 1, 1};
  kernel.rows = {rows.data(), steps, 1, 1};
  kernel.state = {state.data(), 2, 1, 1};
  kernel.covariance = {covariance.data(), 4, 1, 1};
  kernel.log_likelihood = {&log_likelihood, 1};
  kernel.distance = {&distance, 1};
  kernel.observed = {&observed, 1};
  kernel.status = {&status, 1};
  kernel.predicted = {mean.data(), steps, 1, 1};
  kernel.predicted_variance = {variance.data(), steps, 1, 1};
  kernel(0);
  if (status != 0) return {};
  // With the noise variance s^2 the log-likelihood is l + w / 2 - n log(s^2) / 2 - w / (2 s^2),
  // which is largest at s^2 = w / n.
  const auto n = static_cast<double>(observed - kernel.diffuse);
  const double noise_variance = std::max(distance / n, min_noise);
  TrendFit fit;
  fit.log_likelihood = log_likelihood + distance / 2 - n / 2 * exact::log(noise_variance) -
                       distance / (2 * noise_variance);
  fit.mean = mean.back();
  fit.variance = noise_variance * variance.back();
  return fit;
}

}  // namespace

Prediction KalmanModel::predict_later(const RunCurve& curve, double work) const {
  const std::optional<LogGrid> grid = log_grid(curve, work);
  if (!grid) return {curve.best(), recent_gain(curve)};
  std::vector<double> rows;
  for (const double energy : grid->energy) rows.push_back((energy - curve.best()) / curve.gain());
  rows.insert(rows.end(), idx(grid->steps), exact::not_a_number());
  TrendFit best;
  for (const double level : level_ratios) {
    for (const double slope : slope_ratios) {
      const TrendFit fit = filter(rows, level, slope);
      if (fit.log_likelihood > best.log_likelihood) best = fit;
    }
  }
  if (!(best.log_likelihood > -exact::infinity())) return {curve.best(), recent_gain(curve)};
  return clipped(curve, curve.best() + best.mean * curve.gain(),
                 exact::sqrt(best.variance) * curve.gain());
}

}  // namespace kiln
