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

/// Squares of what changes the energy of each variable by chance, in units of `unit`: its couplings
/// to random neighbours, and its field.
struct Spreads {
  std::vector<double> couplings, fields;
  double unit = 1;
};

/// From beta = 1 to 14 in units of `sigma`, the median over the variables of the spread of their
/// energy changes. In these units anneals from 1 to 14 hit the best value most often per sweep on
/// random graphs and planar unions. If changes are coarse (tori: 4 at sigma = 2) nothing moves any
/// more beyond beta * change = 14, so the range ends there. Medians ignore a few tiny or huge
/// coefficients.
///
/// Ladders end at 7 in these units where the smallest changes are so coarse that beta * change is
/// 4 there, else at 4 / change or at the end of anneals. Replicas there are exchanged for long, and
/// colder ones find nothing more: tempering reaches the best cuts of G-set graphs in two thirds of
/// the sweeps. Dense models with fine changes need the whole range.
struct AutomaticRange {
  Objective::BetaRange anneal;
  double ladder_end = 0;
};
/// @param sigma   the median of the spreads; none: nothing has couplings or fields
/// @param change  the median of the smallest changes, if known
inline AutomaticRange automatic_range(std::optional<double> sigma, std::optional<double> change) {
  constexpr double cold = 14, ladder_cold = 7, ladder_still = 4;
  constexpr double greatest = 1e300;  // betas of the smallest numbers would be infinite
  if (!sigma) return {{1, 1}, 1};
  const double step = change.value_or(0);
  const Objective::BetaRange anneal{std::min(1 / *sigma, greatest),
                                    std::min(cold / std::max(*sigma, step), cold * greatest)};
  if (step == 0) return {anneal, anneal.cold};
  return {anneal, std::min(anneal.cold, std::max(ladder_cold / *sigma, ladder_still / step))};
}
/// @param changes  the smallest change of each variable, if known
inline AutomaticRange automatic_range(const Spreads& spreads, const std::vector<double>& changes) {
  std::vector<double> squares = spreads.couplings;
  for (std::size_t i = 0; i < squares.size(); ++i) squares[i] += spreads.fields[i];
  std::erase(squares, 0.0);
  std::optional<double> sigma;
  if (!squares.empty()) sigma = spreads.unit * std::sqrt(median(std::move(squares)));
  return automatic_range(sigma, changes.empty() ? std::nullopt : std::optional(median(changes)));
}

}  // namespace kiln::problems
