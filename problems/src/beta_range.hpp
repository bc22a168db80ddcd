// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "kiln/objective.hpp"
#include "kiln/problems/graph.hpp"

namespace kiln::problems {

/// The upper median. @pre values are not empty.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The largest absolute value, 0 without couplings.
inline double largest_weight(const std::vector<Edge>& couplings) {
  double largest = 0;
  for (const Edge& e : couplings) largest = std::max(largest, std::abs(e.weight));
  return largest;
}

/// Adds the squares of the couplings of each variable, in units of `unit` and over `divisor`, to
/// `squares`.
inline void add_squares_of(const std::vector<Edge>& couplings, double unit, double divisor,
                           std::vector<double>& squares) {
  for (const Edge& e : couplings) {
    const double weight = e.weight / unit;
    squares[static_cast<std::size_t>(e.u)] += weight * weight / divisor;
    squares[static_cast<std::size_t>(e.v)] += weight * weight / divisor;
  }
}

/// From beta = 1 to 14 in units of `sigma`, the median over the variables of the spread of their
/// energy changes; `change` is the median of their smallest changes, if known. In these units
/// anneals from 1 to 14 hit the best value most often per sweep on random graphs and planar unions.
/// If changes are coarse (tori: 4 at sigma = 2) nothing moves any more beyond beta * change = 14,
/// so the range ends there. Medians ignore a few tiny or huge coefficients.
inline Objective::BetaRange range_of_spread(double sigma, std::optional<double> change) {
  constexpr double cold = 14;
  constexpr double greatest = 1e300;  // betas of the smallest numbers would be infinite
  const double coarsest = std::max(sigma, change.value_or(sigma));
  return {std::min(1 / sigma, greatest), std::min(cold / coarsest, cold * greatest)};
}
/// @param changes  the smallest change of each variable, if known
inline Objective::BetaRange range_of_spread(double sigma, const std::vector<double>& changes) {
  return range_of_spread(sigma, changes.empty() ? std::nullopt : std::optional(median(changes)));
}

}  // namespace kiln::problems
