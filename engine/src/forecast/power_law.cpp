// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/forecast/forecast_model.hpp"

#include "forecast/clipped.hpp"

namespace kiln {
namespace {

constexpr int max_fitted = 48;
constexpr double min_exponent = 0.02, max_exponent = 8;
constexpr int exponents = 40, refinements = 40;

// Logarithms of the work in units of the present work, and energies above the present best in units
// of the gain.
struct ScaledPoints {
  std::vector<double> log_work, energy;
};

ScaledPoints scaled_points(const RunCurve& curve) {
  ScaledPoints points;
  const double first = exact::log(curve.points().front().work / curve.work());
  const CurvePoint* last = nullptr;
  for (int i = 0; i < max_fitted; ++i) {
    const double log_target = first * (1 - static_cast<double>(i) / (max_fitted - 1));
    const bool at_end = i == max_fitted - 1;
    const CurvePoint& point =
        at_end ? curve.points().back() : curve.at(curve.work() * exact::exp(log_target));
    if (&point == last) continue;
    last = &point;
    points.log_work.push_back(exact::log(point.work / curve.work()));
    points.energy.push_back((point.best - curve.best()) / curve.gain());
  }
  return points;
}

struct PowerLaw {
  double a = 0, b = 0, exponent = 0;
  double squares = 0;  ///< sum of the squared residuals
  double at(double log_work) const { return a + b * exact::exp(-exponent * log_work); }
};

PowerLaw fit(const ScaledPoints& points, double exponent) {
  const auto n = static_cast<double>(points.energy.size());
  std::vector<double> power;
  double mean_power = 0, mean_energy = 0;
  for (std::size_t i = 0; i < points.energy.size(); ++i) {
    power.push_back(exact::exp(-exponent * points.log_work[i]));
    mean_power += power.back() / n;
    mean_energy += points.energy[i] / n;
  }
  double product = 0, square = 0;
  for (std::size_t i = 0; i < power.size(); ++i) {
    product += (power[i] - mean_power) * (points.energy[i] - mean_energy);
    square += (power[i] - mean_power) * (power[i] - mean_power);
  }
  PowerLaw law{0, square > 0 ? std::max(0.0, product / square) : 0.0, exponent, 0};
  law.a = mean_energy - law.b * mean_power;
  for (std::size_t i = 0; i < power.size(); ++i) {
    const double residual = points.energy[i] - law.a - law.b * power[i];
    law.squares += residual * residual;
  }
  return law;
}

// The best exponent lies between the neighbours of the best one of the grid.
PowerLaw best_fit(const ScaledPoints& points) {
  const double step = exact::log(max_exponent / min_exponent) / (exponents - 1);
  const auto fit_at = [&](double place) {
    return fit(points, min_exponent * exact::exp(step * place));
  };
  PowerLaw best = fit_at(0);
  double place = 0;
  for (int i = 1; i < exponents; ++i) {
    const PowerLaw law = fit_at(i);
    if (!(law.squares < best.squares)) continue;
    best = law;
    place = i;
  }
  constexpr double golden = 0.6180339887498949;
  double low = std::max(0.0, place - 1), high = std::min(exponents - 1.0, place + 1);
  double left = high - golden * (high - low), right = low + golden * (high - low);
  PowerLaw at_left = fit_at(left), at_right = fit_at(right);
  for (int i = 0; i < refinements; ++i) {
    if (at_left.squares < at_right.squares) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - golden * (high - low);
      at_left = fit_at(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + golden * (high - low);
      at_right = fit_at(right);
    }
  }
  const PowerLaw& refined = at_left.squares < at_right.squares ? at_left : at_right;
  return refined.squares < best.squares ? refined : best;
}

}  // namespace

Prediction PowerLawModel::predict_later(const RunCurve& curve, double work) const {
  const ScaledPoints points = scaled_points(curve);
  const PowerLaw law = best_fit(points);
  const double change = law.at(exact::log(work / curve.work()));
  const double residual = law.squares / static_cast<double>(points.energy.size());
  const double deviation = exact::sqrt(residual + 0.25 * change * change);
  return clipped(curve, curve.best() + change * curve.gain(), deviation * curve.gain());
}

}  // namespace kiln
