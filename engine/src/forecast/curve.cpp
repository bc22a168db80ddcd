// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/forecast/curve.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/device/exact_math.hpp"
#include "kiln/telemetry/record.hpp"

namespace kiln {
namespace {

// A coarser grid would hide the shape of a curve; a finer one repeats the same energies.
constexpr double max_spacing = 0.125;
constexpr std::int64_t max_back = 64;
constexpr std::size_t min_grid = 9;

double finite_or_unknown(double x) { return std::isfinite(x) ? x : CurvePoint::unknown; }

double energy_at(const std::vector<CurvePoint>& points, double work) {
  const auto after = std::ranges::upper_bound(points, work, {}, &CurvePoint::work);
  if (after == points.begin()) return points.front().best;
  if (after == points.end()) return points.back().best;
  const CurvePoint &a = *(after - 1), &b = *after;
  const double share = exact::log(work / a.work) / exact::log(b.work / a.work);
  return a.best + share * (b.best - a.best);
}

}  // namespace

CurvePoint point_of(const TelemetryRecord& record) {
  CurvePoint point;
  point.work = static_cast<double>(record.step);
  point.best = record.best;
  point.mean = record.energy;
  point.deviation = static_cast<double>(record.deviation);
  point.accepted = static_cast<double>(record.acceptance);
  point.beta = record.beta > 0 ? record.beta : CurvePoint::unknown;
  return point;
}

bool RunCurve::add(const CurvePoint& point) {
  const bool starts = point.work == 0 && points_.empty() && !start_;
  const bool later = point.work > (points_.empty() ? 0.0 : points_.back().work);
  if (!(starts || later) || !std::isfinite(point.work) || !std::isfinite(point.best)) {
    ++ignored_;
    return false;
  }
  CurvePoint next = point;
  next.mean = finite_or_unknown(point.mean);
  next.deviation = finite_or_unknown(point.deviation);
  next.accepted = finite_or_unknown(point.accepted);
  next.beta = finite_or_unknown(point.beta);
  if (starts) {
    start_ = next;
    return true;
  }
  if (!points_.empty()) improvements_ += next.best < points_.back().best ? 1 : 0;
  const bool first = points_.empty() && !start_;
  if (!first) next.best = std::min(next.best, points_.empty() ? start_->best : points_.back().best);
  points_.push_back(next);
  return true;
}

double RunCurve::fall() const {
  const CurvePoint& first = start();
  return (first.mean > first.best ? first.mean : first.best) - best();
}

const CurvePoint& RunCurve::at(double work) const {
  const auto after = std::ranges::upper_bound(points_, work, {}, &CurvePoint::work);
  return after == points_.begin() ? points_.front() : *(after - 1);
}

RunCurve RunCurve::until(double work) const {
  RunCurve before;
  before.start_ = start_;
  for (const CurvePoint& point : points_) {
    if (point.work <= work) before.add(point);
  }
  return before;
}

std::optional<LogGrid> log_grid(const RunCurve& curve, double work) {
  LogGrid grid;
  const double ahead = exact::log(work / curve.work());
  grid.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(ahead / max_spacing)));
  grid.spacing = ahead / static_cast<double>(grid.steps);
  const double behind = exact::log(curve.work() / curve.points().front().work);
  const auto back = static_cast<std::int64_t>(
      std::min(static_cast<double>(max_back), std::floor(behind / grid.spacing)));
  for (std::int64_t k = back; k > 0; --k) {
    const double ratio = exact::exp(-grid.spacing * static_cast<double>(k));
    grid.energy.push_back(energy_at(curve.points(), curve.work() * ratio));
  }
  grid.energy.push_back(curve.best());
  if (grid.energy.size() < min_grid) return std::nullopt;
  return grid;
}

}  // namespace kiln
