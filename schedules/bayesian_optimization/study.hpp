// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"

#include "encoding.hpp"

namespace kiln {

/// Whether a search cannot tell two points apart.
bool same_point(const Point& a, const Point& b);

/// One evaluation, or a point that waits for its own.
struct Trial {
  Point point;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN: failed
  std::vector<double> further;  ///< values of the other objectives, where there are several
  std::vector<double> constraints;
  std::int64_t id = 0;
  std::size_t region = 0;

  bool good() const;
  std::vector<double> objectives() const;
  double violation() const;  ///< of all constraints
  bool feasible() const { return good() && violation() <= 0; }
};

/// Where a search is local. Without trust regions a study has one that never shrinks.
struct Region {
  static constexpr double first_side = 0.8, largest_side = 1.6, min_side = 0.0078125;

  std::vector<Trial> trials;     ///< since it began
  std::int64_t design_left = 0;  ///< points of its first design that nobody has asked for
  double side = first_side;
  std::int64_t successes = 0, failures = 0;
  std::int64_t told_in_round = 0;  ///< of the present batch
  bool improved = false;           ///< one of them is better
  std::int64_t restarts = 0;

  /// The best feasible trial, else that of the least violation; null if there is no good one.
  const Trial* best() const;
  std::int64_t good_trials() const;
};

/// One search: what was evaluated, what is pending.
struct Study {
  std::vector<Region> regions;
  std::vector<Trial> pending;
  std::vector<Point> seen;     ///< all that was ever suggested or added
  std::uint64_t designed = 0;  ///< points drawn from its sequence
  std::int64_t evaluations = 0, failed = 0;
  std::optional<Trial> best;       ///< feasible
  std::vector<StudyModel> models;  ///< of the regions
  /// [regions][processes], of the fits of the models.
  std::vector<std::vector<GaussianProcess::Memory>> memories;
  std::uint64_t steps = 0;  ///< how often models were asked for: names the draws of the next time
  /// What the last point that the model chose was expected to gain, in units of the values; NaN:
  /// not known.
  double gain = std::numeric_limits<double>::quiet_NaN();

  /// Whether a point is pending or was seen.
  bool knows(const Point& point) const;
};

/// What a model is shown of values: the transform that was chosen, made from the values of a
/// region.
class TargetTransform {
 public:
  TargetTransform(const std::string& name, const std::vector<double>& values);
  double operator()(double y) const;

 private:
  bool clips_ = false, logarithm_ = false;
  double highest_ = 0, least_ = 0, scale_ = 1;
};

}  // namespace kiln
