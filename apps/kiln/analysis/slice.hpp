// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/problem.hpp"
#include "kiln/registry.hpp"

namespace kiln::cli {

/// An interval of a variable, as --box gives it.
struct NamedInterval {
  std::string name;
  double low = 0, high = 0;
};

/// @throws InvalidArgument unless the text is NAME=LOW:HIGH with two finite numbers in this order.
NamedInterval interval_in(const std::string& text);

/// The names of two axes, as in "x,y" and "a[1,2],b".
/// @throws InvalidArgument unless there is one comma outside of brackets.
std::vector<std::string> axes_in(const std::string& text);

/// What of an objective is looked at.
struct SliceOptions {
  std::vector<std::string> axes = {};   ///< names of two variables; empty: the first two reals
  std::vector<NamedInterval> box = {};  ///< of the axes; else the bounds of the problem
  std::string at = "best";              ///< best, center, a solution file or a run folder
  std::int64_t resolution = 256;        ///< points along each axis
  static constexpr std::int64_t min_resolution = 16, max_resolution = 2048;
};

/// A variable along which a slice lies.
struct SliceAxis {
  std::string name;
  std::int64_t variable = 0;  ///< its number among all variables
  double low = 0, high = 0;

  /// The coordinate of point i of n; the first and the last point are the ends.
  double at(std::int32_t i, std::int32_t n) const { return low + (high - low) * i / (n - 1); }
};

/// An objective on a grid over two of its variables. All other variables have the values of one
/// point.
struct Slice {
  std::string problem;     ///< for people
  std::string value_name;  ///< "value"
  Units units;
  /// At which the short anneal began, where there was one, 1/energy; 0: not known.
  double default_beta = 0;
  SliceAxis x, y;
  std::int32_t resolution = 0;
  std::vector<double> value;   ///< [y][x], stored units; NaN: not finite, or not feasible
  State through;               ///< the point
  std::string through_text;    ///< for people: "the best point of a short anneal"
  std::int64_t variables = 0;  ///< of the problem
  std::int64_t not_finite = 0, infeasible = 0;  ///< points without a value
  std::string device;                           ///< that evaluated it: "cpu"

  double x_of(std::int32_t pixel) const { return x.at(pixel % resolution, resolution); }
  double y_of(std::int32_t pixel) const { return y.at(pixel / resolution, resolution); }
  double objective_of(double stored) const { return units.objective_of_stored(stored); }
  /// A difference of stored values in units of the energy, in which temperatures are.
  double energy_difference(double stored) const { return stored * units.energy_of_stored.slope(); }
};

/// Evaluates a slice on the device of the engine.
///
/// @throws InvalidArgument for a problem with several objectives, with expensive evaluations or
///   with fewer than two real variables, for names, intervals and a resolution that do not fit;
///   as read_initial_states() for a file; ObjectiveError if no point has a value.
Slice take_slice(const Problem& problem, const SliceOptions& options, const Registry& registry,
                 Engine& engine);

}  // namespace kiln::cli
