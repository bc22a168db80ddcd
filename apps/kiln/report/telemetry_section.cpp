// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "report/chart.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

const SeriesStyle best_of_epoch{"best so far", 0}, mean_of_epoch{"mean of the replicas", 1, true};

/// The least and the greatest of some values.
struct ValueSpan {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// The curves of telemetry.bin: a point for each epoch in the file.
class EpochCurves {
 public:
  explicit EpochCurves(const RunFiles& files)
      : files_(files), telemetry_(*files.telemetry), value_(traced_value_of(files).name) {
    for (const TelemetryRecord& record : telemetry_.records()) {
      if (record.kind() == TelemetryKind::run) runs_.push_back(record);
      if (record.kind() != TelemetryKind::group) continue;
      Groups& groups = groups_[telemetry_.epoch_of(record)];
      groups.step = record.step;
      groups.mean.add(telemetry_.value_of(record.energy));
      groups.best.add(telemetry_.value_of(record.best));
      if (record.step > 0) groups.acceptance.add(accepted(record));
    }
  }

  bool are_curves() const { return runs_.size() > 1; }

  std::string values() const {
    Chart chart(samples() ? "Mean and standard deviation by epoch"
                          : "Best, mean and standard deviation by epoch",
                steps_axis(), {value_});
    std::vector<ChartPoint> low, high, mean, best;
    const double slope = std::abs(telemetry_.header().value_slope);
    for (const TelemetryRecord& record : runs_) {
      const auto step = static_cast<double>(record.step);
      const double centre = telemetry_.value_of(record.energy), sd = slope * record.deviation;
      low.push_back({step, centre - sd});
      high.push_back({step, centre + sd});
      mean.push_back({step, centre});
      best.push_back({step, telemetry_.value_of(record.best)});
      chart.tip(mean.back(), fmt::format("{} {}s\nmean {:.6g}\nsd {:.4g}\nbest {:.10g}",
                                         record.step, step_of(files_), centre, sd, best.back().y));
    }
    chart.band({"mean ± one standard deviation", 1}, low, high);
    chart.line(mean_of_epoch, std::move(mean));
    const double end = best.back().x;
    if (!samples()) chart.steps(best_of_epoch, std::move(best), end);
    return chart.figure();
  }

  std::string acceptance() const {
    std::vector<ChartPoint> points;
    ValueSpan all;
    for (const TelemetryRecord& record : runs_) {
      if (record.step == 0) continue;  // nothing was attempted
      points.push_back({static_cast<double>(record.step), accepted(record)});
      all.add(points.back().y);
    }
    if (!(all.low < all.high)) return {};
    Chart chart("Acceptance by epoch", steps_axis(),
                {samples() ? "share of transitions that move" : "accepted share", false, 0});
    for (const ChartPoint& point : points) {
      chart.tip(point, fmt::format("{:.0f} {}s\n{:.4g}", point.x, step_of(files_), point.y));
    }
    band_of_groups(chart, {"range of the groups", 1}, &Groups::acceptance);
    chart.line(mean_of_epoch, std::move(points));
    return chart.figure();
  }

  std::string of_groups() const {
    if (telemetry_.header().groups < 2 || groups_.size() < 2) return {};
    Chart chart("Range of the groups by epoch", steps_axis(), {value_});
    band_of_groups(chart, {"means of the groups", 1}, &Groups::mean);
    if (!samples()) band_of_groups(chart, {"best of each group", 0}, &Groups::best);
    for (const auto& [epoch, groups] : groups_) {
      chart.tip({static_cast<double>(groups.step), groups.mean.low},
                fmt::format("{} {}s\nmeans {:.6g} .. {:.6g}\nbest {:.10g} .. {:.10g}", groups.step,
                            step_of(files_), groups.mean.low, groups.mean.high, groups.best.low,
                            groups.best.high));
    }
    return chart.figure();
  }

  std::string note() const {
    const TelemetryHeader& header = telemetry_.header();
    const std::uint64_t steps = header.ticks_per_epoch * header.sweeps_per_tick;
    std::string text = fmt::format("{} epochs of {} {}", runs_.size(), steps,
                                   html(steps == 1 ? step_of(files_) : steps_of(files_)));
    const std::uint64_t last = telemetry_.epoch_of(runs_.back());
    if (last + 1 > runs_.size()) text += fmt::format(", of {} in the run", last + 1);
    return "<p class=\"note\">telemetry.bin has " + text + ".</p>\n";
  }

 private:
  struct Groups {
    std::uint64_t step = 0;
    ValueSpan mean, best, acceptance;
  };

  bool samples() const { return member_at(files_.result, {"sample"}).is_object(); }
  // A transition moves all variables or none, and counts as an attempt for each.
  double accepted(const TelemetryRecord& record) const {
    const double variables = static_cast<double>(telemetry_.header().variables);
    return (samples() ? variables : 1) * static_cast<double>(record.acceptance);
  }
  ChartAxis steps_axis() const {
    const std::string step = step_of(files_);
    const bool of_replicas = step == "sweep" || step == "transition";
    return {steps_of(files_) + (of_replicas ? " of each replica" : "")};
  }
  void band_of_groups(Chart& chart, const SeriesStyle& style, ValueSpan Groups::*span) const {
    std::vector<ChartPoint> low, high;
    for (const auto& [epoch, groups] : groups_) {
      low.push_back({static_cast<double>(groups.step), (groups.*span).low});
      high.push_back({static_cast<double>(groups.step), (groups.*span).high});
    }
    chart.band(style, low, high);
  }

  const RunFiles& files_;
  const TelemetryReader& telemetry_;
  std::string value_;
  std::vector<TelemetryRecord> runs_;
  std::map<std::uint64_t, Groups> groups_;  // by epoch
};

}  // namespace

std::string telemetry_html(const RunFiles& files) {
  if (!files.telemetry) return {};
  const EpochCurves curves(files);
  if (!curves.are_curves()) return {};
  return curves.note() + figures_html({curves.values(), curves.acceptance(), curves.of_groups()});
}

}  // namespace kiln::cli
