// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

struct TelemetryRecord;

/// A run at the end of an epoch. Energies are minimised, in any unit: forecasts do not depend on
/// the zero or the unit of the energy, nor on the unit of the work. NaN: unknown.
struct CurvePoint {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  double work = 0;             ///< done so far: sweeps, evaluations, epochs of a training
  double best = unknown;       ///< lowest energy so far, or the energy of this epoch
  double mean = unknown;       ///< of the energies of the replicas
  double deviation = unknown;  ///< standard deviation of these energies
  double accepted = unknown;   ///< fraction of the attempts of this epoch, 0 to 1
  double beta = unknown;       ///< inverse temperature
};

/// The point that a summary record of telemetry describes, with stored energies. A record without a
/// best replica gives a point that RunCurve::add() ignores.
KILN_API CurvePoint point_of(const TelemetryRecord& record);

/// The history of a run: points in the order of their work, with the running minimum as best.
class KILN_API RunCurve {
 public:
  /// Fewer points give no forecast.
  static constexpr std::size_t min_points = 6;

  /// Adds a point. It is ignored and counted if `best` is not finite, or if `work` is not finite,
  /// negative, or not more than the work of the last point. Infinite means, deviations, fractions
  /// and inverse temperatures count as unknown. A point of work 0, the initial states, tells where
  /// the run began (start()) and is none of points().
  /// @return whether the point was added
  bool add(const CurvePoint& point);

  /// Points of positive work.
  const std::vector<CurvePoint>& points() const noexcept { return points_; }
  /// The point of work 0, or the first point. The curve must not be empty.
  const CurvePoint& start() const { return start_ ? *start_ : points_.front(); }
  bool empty() const noexcept { return points_.empty(); }
  std::int64_t ignored() const noexcept { return ignored_; }
  /// Points after the first that lowered the best energy.
  std::int64_t improvements() const noexcept { return improvements_; }
  /// Whether models forecast this curve: it has `min_points` points and one improvement at least.
  bool has_forecast() const noexcept { return points_.size() >= min_points && improvements_ > 0; }

  /// Work and best energy of the last point. The curve must not be empty.
  double work() const { return points_.back().work; }
  double best() const { return points_.back().best; }
  /// How far the best energy fell from the first point on.
  double gain() const { return points_.front().best - points_.back().best; }
  /// The unit of scores: how far the best energy is below the mean of start(), or below its best
  /// energy if the mean is unknown.
  double fall() const;

  /// The last point with at most this work; the first point if there is none. The curve must not be
  /// empty.
  const CurvePoint& at(double work) const;
  /// The curve as it was at this work.
  RunCurve until(double work) const;

 private:
  std::optional<CurvePoint> start_;
  std::vector<CurvePoint> points_;
  std::int64_t ignored_ = 0, improvements_ = 0;
};

/// Best energies at evenly spaced logarithms of the work, interpolated linearly between points.
struct LogGrid {
  double spacing = 0;          ///< of the logarithms
  std::vector<double> energy;  ///< oldest first; the last one is the present best energy
  std::int64_t steps = 0;      ///< from the last one to the work of the forecast
};

/// The grid by which models extrapolate a curve to a later work. The forecast is a whole number of
/// steps away, and the grid reaches back to the first point, by at most 64 steps.
/// @param curve  with a forecast
/// @param work  later than that of the curve
/// @return none if fewer than 9 energies lie on the grid
KILN_API std::optional<LogGrid> log_grid(const RunCurve& curve, double work);

}  // namespace kiln
