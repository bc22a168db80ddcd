// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kiln/export.hpp"
#include "kiln/forecast/calibration.hpp"
#include "kiln/forecast/features.hpp"
#include "kiln/forecast/forecast_model.hpp"

namespace kiln {

/// A linear function of standardised features.
struct LinearFit {
  double intercept = 0;
  FeatureVector center{}, scale{}, weight{};  ///< scale 0: the feature has no weight

  KILN_API double operator()(const FeatureVector& features) const;
};

/// Fits a linear function by least squares with a penalty on the squared weights of standardised
/// features. The penalty, from
/// 0.001 to 10 times the number of rows, is the one with the least squared error of leave-one-out
/// predictions.
/// @param rows  features of each example
/// @param targets  one for each row, finite
/// @throws InvalidArgument `forecast.training` if the numbers differ or there are fewer than two.
/// @par Source  Hoerl, Kennard, Technometrics 12 (1970) 55; Allen, Technometrics 16 (1974) 125, for
/// the errors of leave-one-out predictions.
KILN_API LinearFit fit_ridge(std::span<const FeatureVector> rows, std::span<const double> targets);

/// Predicts by a linear function of features for each stage, trained on past runs of one family.
///
/// It predicts which fraction of the fall of the energy (RunCurve::fall() at the work of the
/// forecast) is still to come, from 0 to 0.98. The deviation is the absolute error that a second
/// linear model expects from the same features, at least a tenth of the mean error in training.
class KILN_API RidgeModel final : public ForecastModel {
 public:
  /// The fewest past runs with a forecast in each stage.
  static constexpr std::int64_t min_runs = 20;

  /// Trains on whole runs. From each run it takes three prefixes for each stage.
  /// @throws InvalidArgument `forecast.training` with fewer than min_runs runs whose prefixes have
  /// a forecast; the message says which stage lacks how many.
  static RidgeModel train(std::span<const RunCurve> past);

  std::string name() const override { return "ridge"; }

 private:
  struct Stage {
    LinearFit rest, error;
    double min_error = 0;
  };

  static Stage train_stage(std::span<const RunCurve> past, std::size_t stage);
  Prediction predict_later(const RunCurve& curve, double work) const override;

  std::array<Stage, forecast_stages> stages_;
};

}  // namespace kiln
