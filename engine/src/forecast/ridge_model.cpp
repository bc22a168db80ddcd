// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/ridge_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kiln/errors.hpp"

#include "forecast/clipped.hpp"

namespace kiln {
namespace {

// Three prefixes for each stage, so that a feature can tell how far the forecast reaches. All lie
// in the range of their stage.
constexpr std::array<double, 3> around_fraction{0.8, 1, 1.2};
constexpr double max_rest = 0.98, min_error_share = 0.1;

}  // namespace

RidgeModel::Stage RidgeModel::train_stage(std::span<const RunCurve> past, std::size_t stage) {
  std::vector<FeatureVector> rows;
  std::vector<double> rest;
  std::int64_t runs = 0;
  for (const RunCurve& curve : past) {
    bool used = false;
    for (const double around : around_fraction) {
      if (curve.empty()) continue;
      const RunCurve before = curve.until(around * stage_fractions[stage] * curve.work());
      if (!before.has_forecast()) continue;
      used = true;
      rows.push_back(features_of(before, curve.work()));
      rest.push_back((before.best() - curve.best()) / curve.fall());
    }
    runs += used ? 1 : 0;
  }
  if (runs < min_runs) {
    throw InvalidArgument("forecast.training",
                          fmt::format("{} past runs have a forecast in stage {}", runs, stage),
                          fmt::format("at least {} runs", min_runs),
                          "train with more past runs of the family, or with longer ones");
  }
  Stage trained;
  trained.rest = fit_ridge(rows, rest);
  std::vector<double> errors;
  double mean_error = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    errors.push_back(std::abs(rest[i] - std::clamp(trained.rest(rows[i]), 0.0, max_rest)));
    mean_error += errors.back() / static_cast<double>(rows.size());
  }
  trained.error = fit_ridge(rows, errors);
  trained.min_error = min_error_share * mean_error;
  return trained;
}

RidgeModel RidgeModel::train(std::span<const RunCurve> past) {
  RidgeModel model;
  for (std::size_t stage = 0; stage < forecast_stages; ++stage) {
    model.stages_[stage] = train_stage(past, stage);
  }
  return model;
}

// The rest is a fraction r of the later fall f: f = fall / (1 - r).
Prediction RidgeModel::predict_later(const RunCurve& curve, double work) const {
  const Stage& stage = stages_[stage_of(curve.work(), work)];
  const FeatureVector features = features_of(curve, work);
  const double rest = std::clamp(stage.rest(features), 0.0, max_rest);
  const double error = std::max(stage.error(features), stage.min_error);
  const double later_fall = curve.fall() / (1 - rest);
  return clipped(curve, curve.best() - later_fall * rest, later_fall * error);
}

}  // namespace kiln
