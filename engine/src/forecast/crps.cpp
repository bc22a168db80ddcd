// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/crps.hpp"

#include <cmath>
#include <numbers>

#include "kiln/errors.hpp"

namespace kiln {

double crps_normal(double mean, double deviation, double actual) {
  if (!(deviation > 0)) return std::abs(actual - mean);
  const double z = (actual - mean) / deviation;
  if (std::isinf(z)) return std::abs(actual - mean);  // a point beside the outcome
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double below_less_above = std::erf(z / std::numbers::sqrt2);
  return deviation * (z * below_less_above + 2 * density - std::numbers::inv_sqrtpi);
}

double crps_ensemble(std::span<const double> ascending, double actual) {
  if (ascending.empty()) {
    throw InvalidArgument("forecast.ensemble", "an ensemble without members has no score",
                          "at least one member", "calibrate the model first");
  }
  // The i-th of n members is above i and below n - 1 - i others. About the outcome the sums keep
  // their digits however far from 0 the energies are.
  const auto n = static_cast<double>(ascending.size());
  double distance = 0, spread = 0;
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const double x = ascending[i] - actual;
    distance += std::abs(x);
    spread += (2 * static_cast<double>(i) + 1 - n) * x;
  }
  return distance / n - spread / (n * n);
}

}  // namespace kiln
