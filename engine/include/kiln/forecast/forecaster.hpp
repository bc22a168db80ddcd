// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/forecast/calibration.hpp"
#include "kiln/forecast/curve.hpp"
#include "kiln/forecast/forecast_model.hpp"

namespace kiln {

/// Where a run will end.
struct Forecast {
  std::string model;
  double work = 0;      ///< of the forecast
  double expected = 0;  ///< median of the calibrated distribution, in units of the curve
  ForecastBand band;
};

/// How well a calibrated model forecasts held-out runs.
struct ModelScore {
  std::string model;
  /// Mean continuous ranked probability score in units of RunCurve::fall() of each whole run.
  double crps = 0;
  std::int64_t forecasts = 0;  ///< that the mean is over
};

/// Scores the calibrated distributions of a model on held-out runs, at the fractions of all stages.
/// Runs without a forecast count nowhere. A stage without scores in the calibration is left out.
KILN_API ModelScore score_model(const ForecastModel& model, const Calibration& calibration,
                                std::span<const RunCurve> held_out);

/// A model with its calibration for one family of problems.
class KILN_API Forecaster {
 public:
  /// @throws InvalidArgument `forecast.models` without a model.
  Forecaster(std::shared_ptr<const ForecastModel> model, Calibration calibration);

  /// Takes the model with the least mean CRPS on `selection` and calibrates it on `calibration`. A
  /// model is calibrated on every second run of `selection` and scored on the others, both ways
  /// round, so that bands stay valid: `calibration` chooses nothing.
  /// @param models  trained on other instances than those of both sets; the first wins ties
  /// @param selection  whole runs
  /// @param calibration  whole runs of other instances
  /// @throws InvalidArgument `forecast.models` without models; `forecast.scores` if `selection` has
  /// no forecast to score.
  static Forecaster choose(std::span<const std::shared_ptr<const ForecastModel>> models,
                           std::span<const RunCurve> selection,
                           std::span<const RunCurve> calibration);

  const ForecastModel& model() const noexcept { return *model_; }
  const Calibration& calibration() const noexcept { return calibration_; }

  /// Forecasts the best energy at a later work; none for a short or constant curve.
  /// @throws InvalidArgument as ForecastModel::predict() and Calibration::band().
  std::optional<Forecast> forecast(const RunCurve& curve, double work, double level = 0.9) const;

 private:
  std::shared_ptr<const ForecastModel> model_;
  Calibration calibration_;
};

}  // namespace kiln
