// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/information/series_analysis.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Ratios of the variances of the noises of level and slope over that of the observations.
struct VarianceRatios {
  double level = 0, slope = 0;
};

/// How likely a filter finds a series.
struct FilterLikelihood {
  double log_likelihood = 0;  ///< with the noise variance below
  double noise_variance = 0;  ///< the most likely one, of the observations
};

/// Local levels or local trends that filter the same rows of several series. The rows lie on the
/// device, for as many launches of `kalman_step` as a search needs.
class StructuralFilters {
 public:
  /// @param series  of any lengths; a row beyond the end of a series is missing
  /// @param horizon  missing rows behind the longest series
  StructuralFilters(Queue& queue, SeriesModel model,
                    std::span<const std::span<const double>> series, std::int64_t horizon);

  /// Filters series i with the ratios [i * per_series, (i + 1) * per_series); the horizon is left
  /// out.
  std::vector<FilterLikelihood> likelihoods(const std::vector<VarianceRatios>& ratios,
                                            std::int64_t per_series);

  /// One-step predictions and their variances over that of the noise, [rows][series], the horizon
  /// included, with one filter for each series.
  struct Predictions {
    std::vector<double> mean, variance;
    std::int64_t rows = 0;
  };
  Predictions predict(const std::vector<VarianceRatios>& ratios);

  /// Rows that are given up for the prior.
  std::int32_t diffuse() const { return state_size_; }

 private:
  struct Arrays;
  Arrays arrays_of(const std::vector<VarianceRatios>& ratios, std::int64_t per_series);

  Queue& queue_;
  std::int32_t state_size_;
  std::int64_t series_, rows_, horizon_;
  std::vector<double> first_;   // [series], the first value that is present
  DeviceArray<double> values_;  // [rows + horizon][series]
};

}  // namespace kiln
