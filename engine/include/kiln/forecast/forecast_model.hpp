// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/forecast/curve.hpp"

namespace kiln {

/// The best energy that a model expects, in units of the curve.
struct Prediction {
  double mean = 0;       ///< at most the present best energy
  double deviation = 0;  ///< scale of the error, positive; calibration finds its quantiles
};

/// Predicts the best energy of a run at a later work from its history. Predictions run on the host
/// in double, in a fixed order, and count work and no seconds: every device gives the same bits.
class KILN_API ForecastModel {
 public:
  virtual ~ForecastModel();

  virtual std::string name() const = 0;
  /// Predicts the best energy at a later work; none if the curve is too short or constant for a
  /// forecast (RunCurve::has_forecast()).
  /// @throws InvalidArgument `forecast.work` unless `work` is finite and more than that of the
  /// curve.
  std::optional<Prediction> predict(const RunCurve& curve, double work) const;

 private:
  /// @param curve  has a forecast
  /// @param work  later than that of the curve
  virtual Prediction predict_later(const RunCurve& curve, double work) const = 0;
};

/// Expects the present best energy. The deviation is what the last halving of the work gained. If
/// this gained nothing, it is half of what the last two halvings gained, a quarter of the last
/// three, and so on.
class KILN_API LastValueModel final : public ForecastModel {
 public:
  std::string name() const override { return "last"; }

 private:
  Prediction predict_later(const RunCurve& curve, double work) const override;
};

/// Extrapolates a + b work^-c with b >= 0, fitted to at most 48 points that are evenly spaced in
/// the logarithm of the work. For each exponent of a grid from 0.02 to 8, a and b come from least
/// squares; the best exponent is refined by golden section. The deviation joins the residual of the
/// fit and half of the expected gain.
/// @par Source  Domhan, Springenberg, Hutter, IJCAI 2015, 3460 (learning curves).
class KILN_API PowerLawModel final : public ForecastModel {
 public:
  std::string name() const override { return "power_law"; }

 private:
  Prediction predict_later(const RunCurve& curve, double work) const override;
};

/// Continues an autoregression of order at most 2 of the steps of the best energy on log_grid(). It
/// is fitted by fit_autoregression() and goes on by the arithmetic of the kernel `ar_forecast`. A
/// curve whose grid has fewer than 9 energies is predicted as by LastValueModel.
class KILN_API AutoregressionModel final : public ForecastModel {
 public:
  std::string name() const override { return "ar"; }

 private:
  Prediction predict_later(const RunCurve& curve, double work) const override;
};

/// Extrapolates a local linear trend of the best energy on log_grid(), by the arithmetic of the
/// kernel `kalman_step`. The ratios of the variances of level and slope to that of the noise are
/// the most likely ones of a grid; the variance of the noise is concentrated out. A curve whose
/// grid has fewer than 9 energies is predicted as by LastValueModel.
/// @par Source  Harvey, Forecasting, Structural Time Series Models and the Kalman Filter (1989).
class KILN_API KalmanModel final : public ForecastModel {
 public:
  std::string name() const override { return "kalman"; }

 private:
  Prediction predict_later(const RunCurve& curve, double work) const override;
};

/// The models that need no training, in the order last, power_law, ar, kalman.
KILN_API std::vector<std::shared_ptr<const ForecastModel>> untrained_models();

}  // namespace kiln
