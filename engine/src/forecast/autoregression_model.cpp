// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/forecast/forecast_model.hpp"
#include "kiln/information/series_analysis.hpp"
#include "kiln/kernels/information/ar_forecast.hpp"

#include "forecast/clipped.hpp"
#include "idx.hpp"

namespace kiln {
namespace {

constexpr std::int32_t max_order = 2;

// Equal steps leave fit_autoregression() nothing to fit: they go on as they are.
Autoregression fit_steps(const std::vector<double>& steps) {
  const bool equal = std::ranges::all_of(steps, [&](double x) { return x == steps.front(); });
  if (!equal) return fit_autoregression(steps, max_order);
  Autoregression constant;
  constant.coefficients = {steps.front()};
  constant.rows = static_cast<std::int64_t>(steps.size());
  return constant;
}

struct SumOfSteps {
  double mean = 0, variance = 0;
};

// An error of step j stays in the sum with all that it causes later: psi_0 + ... + psi_(h - 1 - j).
SumOfSteps sum_ahead(const std::vector<double>& steps, const Autoregression& model,
                     std::int64_t horizon) {
  const std::int64_t order = model.order();
  const std::vector<double> newest(steps.rbegin(), steps.rbegin() + order);
  std::vector<double> mean(idx(horizon)), variance(idx(horizon)), psi(idx(horizon));
  ArForecast kernel;
  kernel.last = {newest.data(), order, 1, 1};
  kernel.coefficients = {model.coefficients.data(), order + 1, 1, 1};
  kernel.noise_variance = {&model.innovation_variance, 1};
  kernel.mean = {mean.data(), horizon, 1, 1};
  kernel.variance = {variance.data(), horizon, 1, 1};
  kernel.psi = {psi.data(), horizon, 1, 1};
  kernel(0);
  SumOfSteps sum;
  double weight = 0;
  for (std::size_t h = 0; h < mean.size(); ++h) {
    sum.mean += mean[h];
    weight += psi[h];
    sum.variance += model.innovation_variance * weight * weight;
  }
  return sum;
}

}  // namespace

Prediction AutoregressionModel::predict_later(const RunCurve& curve, double work) const {
  const std::optional<LogGrid> grid = log_grid(curve, work);
  if (!grid) return {curve.best(), recent_gain(curve)};
  std::vector<double> steps;
  for (std::size_t i = 1; i < grid->energy.size(); ++i) {
    steps.push_back((grid->energy[i] - grid->energy[i - 1]) / curve.gain());
  }
  // Differences of energies at the ends of the range of a double may be none.
  if (!std::ranges::all_of(steps, [](double x) { return std::isfinite(x); })) {
    return {curve.best(), recent_gain(curve)};
  }
  const SumOfSteps sum = sum_ahead(steps, fit_steps(steps), grid->steps);
  return clipped(curve, curve.best() + sum.mean * curve.gain(),
                 exact::sqrt(sum.variance) * curve.gain());
}

}  // namespace kiln
