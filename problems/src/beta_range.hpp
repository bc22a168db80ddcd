// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kiln/objective.hpp"

namespace kiln::problems {

/// The upper median. @pre values are not empty.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// From beta = 1 to 14 in units of `sigma`, the median over the variables of how far their energy
/// changes spread; `changes` are the smallest changes that they have, where those are known. In
/// these units anneals from 1 to 14 hit the best value most often per sweep on random graphs and
/// planar unions; where changes are coarse (tori: 4 at sigma = 2) nothing moves any more beyond
/// beta * change = 14, so the range ends there. Medians are deaf to a few tiny or huge
/// coefficients.
inline Objective::BetaRange range_of_spread(double sigma, const std::vector<double>& changes) {
  constexpr double cold = 14;
  constexpr double greatest = 1e300;  // betas of the smallest numbers would be infinite
  const double coarsest = changes.empty() ? sigma : std::max(sigma, median(changes));
  return {std::min(1 / sigma, greatest), std::min(cold / coarsest, cold * greatest)};
}

}  // namespace kiln::problems
