// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/forecaster.hpp"

#include <utility>

#include "kiln/device/exact_math.hpp"
#include "kiln/errors.hpp"
#include "kiln/forecast/crps.hpp"

namespace kiln {
namespace {

double median_of(std::span<const double> ascending) {
  const std::size_t n = ascending.size();
  return n % 2 == 1 ? ascending[n / 2] : ascending[n / 2 - 1] / 2 + ascending[n / 2] / 2;
}

// Calibrated on one half and scored on the other, both ways round.
ModelScore cross_score(const ForecastModel& model, std::span<const RunCurve> selection) {
  std::vector<RunCurve> halves[2];
  for (std::size_t i = 0; i < selection.size(); ++i) halves[i % 2].push_back(selection[i]);
  ModelScore sum{model.name(), 0, 0};
  for (const int half : {0, 1}) {
    const ModelScore score = score_model(model, calibrate(model, halves[half]), halves[1 - half]);
    sum.crps += score.crps * static_cast<double>(score.forecasts);
    sum.forecasts += score.forecasts;
  }
  if (sum.forecasts == 0) {
    throw InvalidArgument("forecast.scores", "no run for the choice of a model has a forecast",
                          "at least two runs that have points and improve",
                          "give more past runs of the family, or longer ones");
  }
  sum.crps /= static_cast<double>(sum.forecasts);
  return sum;
}

}  // namespace

ModelScore score_model(const ForecastModel& model, const Calibration& calibration,
                       std::span<const RunCurve> held_out) {
  ModelScore score{model.name(), 0, 0};
  for (const RunCurve& curve : held_out) {
    if (curve.empty()) continue;
    for (std::size_t stage = 0; stage < forecast_stages; ++stage) {
      if (calibration.scores(stage).empty()) continue;
      const RunCurve before = curve.until(stage_fractions[stage] * curve.work());
      const std::optional<Prediction> prediction = model.predict(before, curve.work());
      if (!prediction) continue;
      const std::vector<double> ensemble = calibration.ensemble(stage, *prediction, before.best());
      score.crps += crps_ensemble(ensemble, curve.best()) / curve.fall();
      ++score.forecasts;
    }
  }
  if (score.forecasts > 0) score.crps /= static_cast<double>(score.forecasts);
  return score;
}

Forecaster::Forecaster(std::shared_ptr<const ForecastModel> model, Calibration calibration)
    : model_(std::move(model)), calibration_(std::move(calibration)) {
  if (model_ == nullptr) {
    throw InvalidArgument("forecast.models", "there is no model to forecast by", "a model",
                          "give one of untrained_models()");
  }
}

Forecaster Forecaster::choose(std::span<const std::shared_ptr<const ForecastModel>> models,
                              std::span<const RunCurve> selection,
                              std::span<const RunCurve> calibration) {
  if (models.empty()) {
    throw InvalidArgument("forecast.models", "there is no model to choose", "at least one model",
                          "give untrained_models()");
  }
  std::shared_ptr<const ForecastModel> best;
  double least = exact::infinity();
  for (const auto& model : models) {
    const double crps = cross_score(*model, selection).crps;
    if (best && !(crps < least)) continue;
    best = model;
    least = crps;
  }
  return {best, calibrate(*best, calibration)};
}

std::optional<Forecast> Forecaster::forecast(const RunCurve& curve, double work,
                                             double level) const {
  const std::optional<Prediction> prediction = model_->predict(curve, work);
  if (!prediction) return std::nullopt;
  const std::size_t stage = stage_of(curve.work(), work);
  const ForecastBand band = calibration_.band(stage, *prediction, curve.best(), level);
  const std::vector<double> ensemble = calibration_.ensemble(stage, *prediction, curve.best());
  return Forecast{model_->name(), work, median_of(ensemble), band};
}

}  // namespace kiln
