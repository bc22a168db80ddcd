// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "diagnosis/diagnosis_series.hpp"
#include "diagnosis/diagnosis_words.hpp"
#include "output/text.hpp"
#include "report/chart.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

using Values = std::vector<Number>;

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
constexpr SeriesStyle accent{"", 0}, second{"", 1};

double value_of(const Number& number) { return number.value_or(no_value); }

std::vector<ChartPoint> against(const Values& x, const Values& y) {
  std::vector<ChartPoint> points;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    points.push_back({value_of(x[i]), value_of(y[i])});
  }
  return points;
}

std::vector<ChartPoint> by_number(const Values& y, double first) {
  std::vector<ChartPoint> points;
  for (std::size_t i = 0; i < y.size(); ++i) {
    points.push_back({first + static_cast<double>(i), value_of(y[i])});
  }
  return points;
}

/// Whether a chart of the points would be more than a level line.
bool varies(const Values& values) {
  const auto other = [&](const Number& value) { return value && value != values.front(); };
  return std::ranges::any_of(values, other);
}

Number diagnostic(const Diagnosis& run, const char* name) {
  const auto found = run.diagnostics.find(name);
  return found == run.diagnostics.end() ? std::nullopt : found->second;
}

std::string diagnostic_tile(const Diagnosis& run, const char* name, const char* label,
                            const std::string& note = {}) {
  const Number value = diagnostic(run, name);
  if (!value) return {};
  return tile_html(
      label, data_html(fmt::format("diagnostics.{}", name), *value, fmt::format("{:.4g}", *value)),
      note);
}

std::string ladder_tiles(const Diagnosis& run) {
  std::string tiles = tile_html("rungs", fmt::format("{}", rungs_of(run)));
  const Number barrier = diagnostic(run, "barrier");
  tiles += diagnostic_tile(
      run, "barrier", "communication barrier",
      barrier ? fmt::format("{:.0f} rungs suffice", std::ceil(2 * *barrier + 1)) : std::string());
  tiles += diagnostic_tile(run, "round_trips", "round trips");
  tiles += diagnostic_tile(run, "round_trip_rate", "round trips per phase and ladder");
  tiles += diagnostic_tile(run, "round_trip_rate_predicted", "predicted, for many rungs",
                           "1 / (2 + 2 barrier)");
  tiles += diagnostic_tile(run, "round_trip_efficiency", "measured / predicted");
  const Number error = diagnostic(run, "log_z_error");
  tiles += diagnostic_tile(run, "log_z_difference", "log Z, last rung against first",
                           error ? fmt::format("&plusmn; {:.3g}", *error) : std::string());
  return "<div class=\"tiles\">\n" + tiles + "</div>\n";
}

std::string swap_chart(const Diagnosis& run) {
  const Values& acceptance = run.series.at("acceptance");
  const Values& beta = run.series.at("beta");
  Chart chart("Accepted exchanges between neighbouring rungs", {"gap between rungs"},
              {"accepted share", false, 0, 1});
  const std::vector<ChartPoint> points = by_number(acceptance, 0.5);
  std::string counts;
  for (std::size_t i = 0; i < points.size(); ++i) {
    counts += fmt::format("{}{}", i == 0 ? "" : ",", points[i].y);
    chart.tip(points[i],
              fmt::format("rungs {} and {}\nbeta {:.4g} to {:.4g}\naccepted {:.3g} %", i, i + 1,
                          value_of(beta[i]), value_of(beta[i + 1]), 100 * points[i].y));
  }
  chart.bars(accent, points, 1);
  chart.attributes(fmt::format("data-name=\"swap acceptance\" data-values=\"{}\"", counts));
  return chart.figure();
}

// The barrier between two temperatures is the sum of the rejection rates between them.
std::string barrier_chart(const Diagnosis& run) {
  const Values& beta = run.series.at("beta");
  const Values& rejection = run.series.at("rejection");
  std::vector<ChartPoint> points{{value_of(beta[0]), 0}};
  for (std::size_t r = 0; r < rejection.size(); ++r) {
    points.push_back({value_of(beta[r + 1]), points.back().y + value_of(rejection[r])});
  }
  Chart chart("Communication barrier up to a temperature", {"beta", true},
              {"sum of rejection rates"});
  chart.line(accent, points);
  chart.dots(accent, points);
  for (const ChartPoint& point : points) {
    chart.tip(point, fmt::format("beta {:.4g}\nbarrier {:.4g}", point.x, point.y));
  }
  chart.caption("Where the curve is steep, replicas pass slowly: rungs belong there.");
  return chart.figure();
}

std::string energy_chart(const Diagnosis& run) {
  const auto mean = run.series.find("mean_energy"), sd = run.series.find("energy_deviation");
  if (mean == run.series.end()) return {};
  const std::vector<ChartPoint> points = against(run.series.at("beta"), mean->second);
  Chart chart("Energy by rung", {"beta", true}, {"mean energy"});
  if (sd != run.series.end() && sd->second.size() == mean->second.size()) {
    std::vector<ChartPoint> low = points, high = points;
    for (std::size_t i = 0; i < points.size(); ++i) {
      low[i].y -= value_of(sd->second[i]);
      high[i].y += value_of(sd->second[i]);
    }
    chart.spans({"one standard deviation", 6}, low, high);
  }
  chart.line({"mean", 0}, points);
  chart.dots(accent, points);
  for (const ChartPoint& point : points) {
    chart.tip(point, fmt::format("beta {:.4g}\nmean energy {:.6g}", point.x, point.y));
  }
  return chart.figure();
}

std::string rung_chart(const Diagnosis& run, const std::string& name) {
  const std::vector<ChartPoint> points = by_number(run.series.at(name), 0);
  Chart chart(capitalized(words_of(name)) + " by rung", {"rung"}, {words_of(name)});
  chart.line(second, points);
  chart.dots(second, points);
  for (const ChartPoint& point : points) {
    chart.tip(point, fmt::format("rung {:.0f}\n{:.6g}", point.x, point.y));
  }
  return chart.figure();
}

/// Counts of values in bins of equal width, which two series of a schedule give.
std::string histogram_chart_of(const Diagnosis& run, const Values& at, const Values& counts) {
  const std::vector<ChartPoint> points = against(at, counts);
  Chart chart("Values of all states", {run.value_name}, {"states", false, 0});
  const double bin = std::abs(points[1].x - points[0].x);
  chart.bars(second, points, bin);
  for (const ChartPoint& point : points) {
    chart.tip(point, fmt::format("{} {:.6g}\n{:.0f} states", run.value_name, point.x, point.y));
  }
  return chart.figure();
}

}  // namespace

std::string ladder_html(const Diagnosis& run) {
  if (!run.has_ladder() || rungs_of(run) < 2) return {};
  std::vector<std::string> figures{swap_chart(run), barrier_chart(run), energy_chart(run)};
  static const std::set<std::string> drawn{"mean_energy", "energy_deviation"};
  constexpr std::size_t most = 12;
  for (const std::string& name : columns_of_rungs(run)) {
    const bool shown = !drawn.contains(name) && varies(run.series.at(name));
    if (shown && figures.size() < most) figures.push_back(rung_chart(run, name));
  }
  return ladder_tiles(run) + figures_html(figures);
}

std::string series_html(const Diagnosis& run) {
  auto series = remaining_series(run);
  // Other sections show both.
  for (const char* name : {"best_by_sweep", "model_lengths"}) series.erase(name);
  const auto beta = series.find("beta");
  std::vector<std::string> figures;
  const auto at = series.find("histogram_value"), counts = series.find("histogram_count");
  if (at != series.end() && counts != series.end() && at->second.size() == counts->second.size() &&
      varies(at->second)) {
    figures.push_back(histogram_chart_of(run, at->second, counts->second));
    series.erase(at);
    series.erase(counts);
  }
  constexpr std::size_t most = 12;
  for (const auto& [name, values] : series) {
    if (name == "beta" || !varies(values) || figures.size() == most) continue;
    const bool heated = beta != series.end() && beta->second.size() == values.size();
    const std::vector<ChartPoint> points =
        heated ? against(beta->second, values) : by_number(values, 0);
    Chart chart(capitalized(words_of(name)), {heated ? "beta" : "number"}, {words_of(name)});
    chart.line(accent, points);
    for (const ChartPoint& point : points) {
      chart.tip(point,
                fmt::format("{} {:.4g}\n{:.6g}", heated ? "beta" : "number", point.x, point.y));
    }
    figures.push_back(chart.figure());
  }
  return figures_html(figures);
}

std::string diagnostics_html(const Diagnosis& run) {
  std::vector<std::vector<std::string>> rows{{"diagnostic", "value"}};
  for (const auto& [name, value] : run.diagnostics) {
    rows.push_back(
        {html(words_of(name)),
         value ? data_html("diagnostics." + html(name), *value, short_number(*value)) : "-"});
  }
  return table_html(rows, 1);
}

}  // namespace kiln::cli
