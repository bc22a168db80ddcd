// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "information/structural_filters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/information/kalman_step.hpp"

#include "idx.hpp"

namespace kiln {
namespace {

// Variance of the prior over that of the noise. The state is then known from the first rows, up to
// this share.
constexpr double diffuse_variance = 1e8;

double first_present(std::span<const double> values) {
  const auto found = std::ranges::find_if(values, [](double x) { return !std::isnan(x); });
  return found == values.end() ? 0.0 : *found;
}

}  // namespace

// What a batch of filters reads and writes.
struct StructuralFilters::Arrays {
  DeviceArray<double> transition, state_noise, observation, observation_noise, state, covariance,
      log_likelihood, distance;
  DeviceArray<std::int64_t> observed;
  DeviceArray<std::uint32_t> status;
  KalmanStep kernel;
};

StructuralFilters::StructuralFilters(Queue& queue, SeriesModel model,
                                     std::span<const std::span<const double>> series,
                                     std::int64_t horizon)
    : queue_(queue),
      state_size_(model == SeriesModel::local_trend ? 2 : 1),
      series_(static_cast<std::int64_t>(series.size())),
      rows_(0),
      horizon_(horizon) {
  for (const auto& values : series) {
    rows_ = std::max(rows_, static_cast<std::int64_t>(values.size()));
    first_.push_back(first_present(values));
  }
  std::vector<double> all(idx((rows_ + horizon_) * series_),
                          std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t s = 0; s < series_; ++s) {
    const std::span<const double> values = series[idx(s)];
    for (std::size_t t = 0; t < values.size(); ++t) {
      all[t * idx(series_) + idx(s)] = values[t];
    }
  }
  values_ = DeviceArray<double>(queue_, all);
}

StructuralFilters::Arrays StructuralFilters::arrays_of(const std::vector<VarianceRatios>& ratios,
                                                       std::int64_t per_series) {
  const auto count = static_cast<std::int64_t>(ratios.size());
  const std::int64_t n = state_size_;
  // Of each matrix the elements follow each other, and for each element the filters.
  const auto constant = [&](const std::vector<double>& elements) {
    std::vector<double> all;
    for (const double element : elements) all.insert(all.end(), idx(count), element);
    return DeviceArray<double>(queue_, all);
  };
  const bool trend = n == 2;
  const std::vector<double> moves = trend ? std::vector<double>{1, 1, 0, 1} : std::vector{1.0};
  std::vector<double> noise(idx(n * n * count), 0.0), state(idx(n * count), 0.0);
  for (std::int64_t f = 0; f < count; ++f) {
    noise[idx(f)] = ratios[idx(f)].level;
    if (trend) noise[idx(3 * count + f)] = ratios[idx(f)].slope;
    state[idx(f)] = first_[idx(f / per_series)];
  }
  Arrays arrays{constant(moves),
                {queue_, noise},
                constant(trend ? std::vector<double>{1, 0} : std::vector{1.0}),
                constant({1.0}),
                {queue_, state},
                constant(trend ? std::vector{diffuse_variance, 0.0, 0.0, diffuse_variance}
                               : std::vector{diffuse_variance}),
                {queue_, std::vector<double>(idx(count), 0.0)},
                {queue_, std::vector<double>(idx(count), 0.0)},
                {queue_, std::vector<std::int64_t>(idx(count), 0)},
                {queue_, std::vector<std::uint32_t>(idx(count), 0)},
                {}};
  KalmanStep& kernel = arrays.kernel;
  kernel.state_size = state_size_;
  kernel.diffuse = diffuse();
  kernel.filters_per_series = per_series;
  kernel.transition = {arrays.transition.data(), n * n, count, count};
  kernel.state_noise = {arrays.state_noise.data(), n * n, count, count};
  kernel.observation = {arrays.observation.data(), n, count, count};
  kernel.observation_noise = {arrays.observation_noise.data(), 1, count, count};
  kernel.rows = {values_.data(), rows_ + horizon_, series_, series_};
  kernel.state = {arrays.state.data(), n, count, count};
  kernel.covariance = {arrays.covariance.data(), n * n, count, count};
  kernel.log_likelihood = arrays.log_likelihood.view();
  kernel.distance = arrays.distance.view();
  kernel.observed = arrays.observed.view();
  kernel.status = arrays.status.view();
  return arrays;
}

// With the noise variance s^2 as the unit the likelihood of a filter is exp(l), and it has the
// squares w. For any s^2 its logarithm is l + w / 2 - n log(s^2) / 2 - w / (2 s^2), which is
// largest at s^2 = w / n.
std::vector<FilterLikelihood> StructuralFilters::likelihoods(
    const std::vector<VarianceRatios>& ratios, std::int64_t per_series) {
  Arrays arrays = arrays_of(ratios, per_series);
  arrays.kernel.rows.rows = rows_;
  queue_.launch(arrays.kernel);
  const std::vector<double> likelihood = arrays.log_likelihood.download();
  const std::vector<double> squares = arrays.distance.download();
  const std::vector<std::int64_t> observed = arrays.observed.download();
  const std::vector<std::uint32_t> status = arrays.status.download();
  std::vector<FilterLikelihood> all;
  for (std::size_t f = 0; f < ratios.size(); ++f) {
    const auto n = static_cast<double>(observed[f] - diffuse());
    FilterLikelihood one;
    one.noise_variance = std::max(squares[f] / n, std::numeric_limits<double>::min());
    one.log_likelihood = likelihood[f] + squares[f] / 2 - n / 2 * exact::log(one.noise_variance) -
                         squares[f] / (2 * one.noise_variance);
    if (status[f] != 0) one.log_likelihood = -std::numeric_limits<double>::infinity();
    all.push_back(one);
  }
  return all;
}

StructuralFilters::Predictions StructuralFilters::predict(
    const std::vector<VarianceRatios>& ratios) {
  Arrays arrays = arrays_of(ratios, 1);
  Predictions predictions;
  predictions.rows = rows_ + horizon_;
  const std::int64_t size = predictions.rows * series_;
  DeviceArray<double> mean(queue_, size), variance(queue_, size);
  arrays.kernel.predicted = {mean.data(), predictions.rows, series_, series_};
  arrays.kernel.predicted_variance = {variance.data(), predictions.rows, series_, series_};
  queue_.launch(arrays.kernel);
  predictions.mean = mean.download();
  predictions.variance = variance.download();
  return predictions;
}

}  // namespace kiln
