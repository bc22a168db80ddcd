// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/forecast/curve.hpp"

namespace kiln {

inline constexpr std::size_t forecast_features = 64;

/// Features of a curve for a forecast: numbers of order 1 without a unit, the unused ones 0.
/// docs/guides/forecasts.md describes each.
using FeatureVector = std::array<double, forecast_features>;

/// The names of the features in use, in their order.
KILN_API const std::vector<const char*>& feature_names();

/// Computes the features of a curve for a forecast at a later work. Energies count in units of
/// RunCurve::fall(), and a feature of an unknown quantity is 0.
/// @param curve  with a forecast
/// @param work  later than that of the curve
KILN_API FeatureVector features_of(const RunCurve& curve, double work);

}  // namespace kiln
