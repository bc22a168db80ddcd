// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "diagnosis/diagnosis_words.hpp"
#include "output/text.hpp"
#include "report/chart.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

constexpr SeriesStyle best_style{"", 0}, mean_style{"", 1, true};

SeriesStyle named(SeriesStyle style, const std::string& name) {
  style.name = name;
  return style;
}

std::vector<ChartPoint> column(const RunFiles& files, double TraceRow::*x, double TraceRow::*y) {
  std::vector<ChartPoint> points;
  for (const TraceRow& row : files.trace) points.push_back({row.*x, row.*y});
  return points;
}

/// Whether a chart of the points would be more than a level line.
bool has_values(const std::vector<ChartPoint>& points) {
  const auto first =
      std::ranges::find_if(points, [](const ChartPoint& p) { return std::isfinite(p.y); });
  const auto other = [&](const ChartPoint& p) { return std::isfinite(p.y) && p.y != first->y; };
  return first != points.end() && std::ranges::any_of(points, other);
}

std::string exact_value(double value) { return fmt::format("{:.10g}", value); }
std::string shown_value(double value) {
  return std::abs(value) < 1e10 && value == std::floor(value) ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.7g}", value);
}

/// The curves of one run against time or work.
class Curves {
 public:
  explicit Curves(const RunFiles& files)
      : files_(files), traced_(traced_value_of(files)), value_(traced_.name) {
    for (const TraceRow& row : files.trace) {
      if (row.time_s > 0) first_s_ = std::min(first_s_, row.time_s);
      if (row.mean != 0 && std::isfinite(row.mean)) has_mean_ = true;
    }
    for (const IncumbentRow& row : files.incumbents) {
      if (row.time_s > 0) first_s_ = std::min(first_s_, row.time_s);
    }
    samples_ = member_at(files.result, {"sample"}).is_object();
    has_mean_ = has_mean_ && !files.evaluations && files.trace.size() > 1;
  }

  std::string by_time() const {
    Chart chart(has_mean_ ? "Best and mean against time" : "Best against time", {"time [s]", true},
                {value_});
    chart.rule(rule_name(), best_known());
    if (has_mean_) chart.line(named(mean_style, "mean of the replicas"), mean(true));
    chart.steps(named(best_style, "best so far"), best(true), run_seconds(files_));
    chart.dots(best_style, best(true));
    add_tips(chart, true);
    return chart.figure();
  }

  std::string by_work() const {
    const std::string steps = step_of(files_);
    const bool swept = steps == "sweep" || steps == "transition";
    Chart chart(
        has_mean_ ? "Best and mean against work" : "Best against work",
        {steps == "batch" ? "batches of evaluations" : steps + (swept ? "s of each replica" : "s")},
        {value_});
    double last = number_at(files_.result, {"work", "sweeps"}).value_or(0);
    if (!files_.trace.empty()) last = std::max(last, files_.trace.back().sweeps);
    chart.rule(rule_name(), best_known());
    if (has_mean_) chart.line(named(mean_style, "mean of the replicas"), mean(false));
    chart.steps(named(best_style, "best so far"), best(false), last);
    chart.dots(best_style, best(false));
    add_tips(chart, false);
    return chart.figure();
  }

  /// The distance to the best known value, or without one to the last best.
  std::string gap() const {
    const bool known = std::isfinite(best_known());
    const double goal = known ? best_known() : files_.incumbents.back().value;
    std::vector<ChartPoint> points;
    double end = run_seconds(files_);
    for (const IncumbentRow& row : files_.incumbents) {
      const double behind = traced_.maximized ? goal - row.value : row.value - goal;
      if (behind <= 0) {
        end = row.time_s;
        break;
      }
      const double share = goal != 0 ? 100 * behind / std::abs(goal) : behind;
      points.push_back({on_axis(row.time_s), share});
    }
    if (points.size() < 2) return {};
    const std::string unit = goal != 0 ? "%" : value_;
    Chart chart(known ? "Gap to the best known value" : "Gap to the final best value",
                {"time [s]", true}, {fmt::format("gap [{}]", unit), true});
    for (const ChartPoint& point : points) {
      chart.tip(point, fmt::format("{:.4g} s\ngap {:.4g} {}", point.x, point.y, unit));
    }
    chart.steps(best_style, points, end);
    chart.dots(best_style, points);
    if (end < run_seconds(files_)) {
      chart.caption(fmt::format("The gap is 0 from {:.4g} s on.", end));
    }
    return chart.figure();
  }

  std::string of(const char* title, const char* unit, double TraceRow::*y, bool logarithmic) const {
    const std::vector<ChartPoint> points = column(files_, &TraceRow::time_s, y);
    if (!has_values(points)) return {};
    Chart chart(title, {"time [s]"}, {unit, logarithmic});
    if (!logarithmic) chart = Chart(title, {"time [s]"}, {unit, false, 0});
    chart.line(mean_style, points);
    for (const ChartPoint& point : points) {
      chart.tip(point, fmt::format("{:.4g} s\n{:.4g}", point.x, point.y));
    }
    return chart.figure();
  }

  bool samples() const { return samples_; }
  /// Whether there is more than one point to connect.
  bool are_curves() const { return has_mean_ || (files_.incumbents.size() > 1 && !samples_); }

 private:
  double best_known() const {
    if (!traced_.of_result) return std::numeric_limits<double>::quiet_NaN();
    return number_at(files_.result, {"objective", "best_known"})
        .value_or(std::numeric_limits<double>::quiet_NaN());
  }
  std::string rule_name() const {
    return std::isfinite(best_known()) ? "best known " + shown_value(best_known()) : "";
  }
  // The first states have time 0, which a logarithmic axis has not: they stand at its beginning.
  double on_axis(double time_s) const { return std::max(time_s, first_s_); }

  std::vector<ChartPoint> best(bool time) const {
    std::vector<ChartPoint> points;
    for (const IncumbentRow& row : files_.incumbents) {
      points.push_back({time ? on_axis(row.time_s) : row.sweeps, row.value});
    }
    return points;
  }
  std::vector<ChartPoint> mean(bool time) const {
    return column(files_, time ? &TraceRow::time_s : &TraceRow::sweeps, &TraceRow::mean);
  }
  void add_tips(Chart& chart, bool time) const {
    for (const TraceRow& row : files_.trace) {
      std::string text =
          fmt::format("{:.4g} s, {:.0f} {}s", row.time_s, row.sweeps, step_of(files_));
      if (std::isfinite(row.best)) text += "\nbest " + exact_value(row.best);
      if (has_mean_) text += fmt::format("\nmean {:.6g}", row.mean);
      const double y = std::isfinite(row.best) ? row.best : row.mean;
      chart.tip({time ? on_axis(row.time_s) : row.sweeps, y}, text);
    }
  }

  const RunFiles& files_;
  TracedValue traced_;
  std::string value_;
  double first_s_ = std::numeric_limits<double>::infinity();
  bool has_mean_ = false, samples_ = false;
};

/// Numbers that a schedule adds to its events, against time.
std::vector<std::string> event_charts(const RunFiles& files) {
  static const std::set<std::string> known{"time_s", "time_left_s",    "sweeps",
                                           "best",   "mean",           "acceptance_rate",
                                           "beta",   "attempts_per_ns"};
  std::map<std::string, std::vector<ChartPoint>> series;
  for (const Json& event : files.events) {
    const auto kind = text_at(event, {"event"});
    const auto time = number_at(event, {"time_s"});
    if (!time || (kind != "improvement" && kind != "progress")) continue;
    for (const auto& [name, value] : event.items()) {
      if (!value.is_number() || known.contains(name)) continue;
      series[name].push_back({*time, value.get<double>()});
    }
  }
  std::vector<std::string> charts;
  constexpr std::size_t most = 8;
  for (const auto& [name, points] : series) {
    if (charts.size() == most || !has_values(points)) continue;
    Chart chart(capitalized(words_of(name)), {"time [s]"}, {words_of(name)});
    chart.line(mean_style, points);
    for (const ChartPoint& point : points) {
      chart.tip(point, fmt::format("{:.4g} s\n{:.6g}", point.x, point.y));
    }
    charts.push_back(chart.figure());
  }
  return charts;
}

/// "time to 1 % 0.3 s": the table of the result.
std::string time_to_gap_table(const RunFiles& files) {
  const Json& table = member_at(files.result, {"incumbents", "time_to_gap"});
  if (!table.is_array()) return {};
  std::vector<std::vector<std::string>> rows{{"gap", "time [s]", html(steps_of(files))}};
  for (const Json& one : table) {
    const auto gap = number_at(one, {"gap"}), time = number_at(one, {"time_s"});
    if (!gap) continue;
    rows.push_back(
        {fmt::format("{:g} %", 100 * *gap),
         time ? data_html("time_to_gap", *time, fmt::format("{:.4g}", *time)) : "-",
         short_number(
             number_at(one, {"sweeps"}).value_or(std::numeric_limits<double>::quiet_NaN()))});
  }
  return rows.size() > 1 ? "<h3>Time to gap</h3>\n" + table_html(rows, 0) : std::string();
}

}  // namespace

std::string curves_html(const RunFiles& files) {
  const Curves curves(files);
  std::vector<std::string> figures;
  if (curves.are_curves()) figures = {curves.by_time(), curves.by_work()};
  if (files.incumbents.size() > 1 && !curves.samples()) figures.push_back(curves.gap());
  std::vector<std::string> of_schedule = event_charts(files);
  if (!curves.samples() && step_of(files) != "batch") {
    // As in the table of progress, numbers of the schedule take the place of temperatures.
    if (of_schedule.empty()) {
      figures.push_back(
          curves.of("Acceptance of moves", "accepted share", &TraceRow::acceptance_rate, false));
      figures.push_back(curves.of("Inverse temperature", "beta", &TraceRow::beta, true));
    }
    figures.push_back(
        curves.of("Throughput", "attempted moves per ns", &TraceRow::attempts_per_ns, false));
  }
  for (std::string& figure : of_schedule) figures.push_back(std::move(figure));
  return figures_html(figures) + time_to_gap_table(files);
}

}  // namespace kiln::cli
