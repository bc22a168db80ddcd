// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kiln/objectives/density_objective.hpp"
#include "kiln/problem.hpp"

namespace kiln::problems {

/// A point or part of one, on the host.
using Point = std::span<const double>;

/// A continuous problem before it becomes a Problem. Exported for the unit tests only; the header
/// is not installed.
struct DensityModel {
  std::shared_ptr<const DensitySource> source;
  std::vector<Bounds> box = {};  ///< an interval for each coordinate; empty: all of R
  /// The energy from the raw data by the formula as it stands in books, for verification.
  std::function<double(Point)> plain;
  std::optional<Posterior> posterior;
  double rounding = 0;
  std::optional<double> best_known = {};
  std::string best_known_source = {};
  std::vector<std::pair<std::string, std::string>> sizes = {};  ///< beside n
  /// The point as users write it, and back; empty: they write the coordinates.
  std::function<std::vector<double>(Point)> to_written = {}, from_written = {};
};

/// @param family  what stands before the colon of `name`.
Problem to_problem(DensityModel model, std::string name, std::string family);

/// "beta[1]", ..., "beta[count]" appended to `names`.
void append_indexed(std::vector<std::string>& names, const std::string& name, std::size_t count);

}  // namespace kiln::problems
