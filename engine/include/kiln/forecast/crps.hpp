// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kiln/export.hpp"

namespace kiln {

// The continuous ranked probability score of a distribution F and an outcome y: the integral over x
// of (F(x) - [x >= y])^2, in units of y. Less is better. The score of a point is the absolute
// error.

/// The score of a normal distribution.
/// @param mean  finite
/// @param deviation  not negative; 0 is a point
/// @param actual  the outcome
/// @par Source  Gneiting, Raftery, JASA 102 (2007) 359, equation 21.
KILN_API double crps_normal(double mean, double deviation, double actual);

/// The exact score of the distribution that gives each member the same probability:
/// mean |x_i - y| - mean |x_i - x_j| / 2 over all pairs, i = j included.
/// @param ascending  members in ascending order
/// @param actual  the outcome
/// @throws InvalidArgument `forecast.ensemble` without members.
KILN_API double crps_ensemble(std::span<const double> ascending, double actual);

}  // namespace kiln
