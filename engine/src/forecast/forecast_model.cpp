// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/forecast_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"

#include "forecast/clipped.hpp"

namespace kiln {

ForecastModel::~ForecastModel() = default;

std::optional<Prediction> ForecastModel::predict(const RunCurve& curve, double work) const {
  if (!curve.has_forecast()) return std::nullopt;
  if (!(work > curve.work()) || !std::isfinite(work)) {
    throw InvalidArgument(
        "forecast.work",
        fmt::format("the work {} of the forecast is not later than that of the curve, {}", work,
                    curve.work()),
        "a finite work that is more than that of the last point",
        "take RunCurve::best() at the present work");
  }
  return predict_later(curve, work);
}

double recent_gain(const RunCurve& curve) {
  double share = 1;
  const double begin = curve.points().front().work;
  for (double work = curve.work() / 2;; work /= 2, share /= 2) {
    const double gained = curve.at(work).best - curve.best();
    // Positive and finite also for energies at the ends of the range of a double. A thread that
    // takes tiny numbers for 0 sees no gain.
    if (gained > 0 || work < begin) {
      return std::clamp(share * gained, std::numeric_limits<double>::min(),
                        std::numeric_limits<double>::max());
    }
  }
}

Prediction clipped(const RunCurve& curve, double mean, double deviation) {
  const double recent = recent_gain(curve);
  if (!std::isfinite(mean) || !std::isfinite(deviation)) return {curve.best(), recent};
  return {std::min(mean, curve.best()), std::max(deviation, 0.01 * recent)};
}

Prediction LastValueModel::predict_later(const RunCurve& curve, double) const {
  return {curve.best(), recent_gain(curve)};
}

std::vector<std::shared_ptr<const ForecastModel>> untrained_models() {
  return {std::make_shared<LastValueModel>(), std::make_shared<PowerLawModel>(),
          std::make_shared<AutoregressionModel>(), std::make_shared<KalmanModel>()};
}

}  // namespace kiln
