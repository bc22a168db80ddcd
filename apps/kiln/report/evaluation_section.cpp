// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "output/text.hpp"
#include "report/bar.hpp"
#include "report/chart.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_slices = 8, max_dots = 1500;
constexpr double no_best = std::numeric_limits<double>::quiet_NaN();

std::vector<ChartPoint> thinned_dots(std::vector<ChartPoint> points) {
  if (points.size() <= max_dots) return points;
  std::vector<ChartPoint> kept;
  for (std::size_t i = 0; i < max_dots; ++i) kept.push_back(points[i * points.size() / max_dots]);
  return kept;
}

/// The axis of the values. Where the worst quarter of them would take more than half of it, it ends
/// before them.
ChartAxis value_axis(const std::string& name, const std::vector<double>& all, bool maximized) {
  std::vector<double> values;
  const double sign = maximized ? -1 : 1;
  for (const double value : all) {
    if (std::isfinite(value)) values.push_back(sign * value);
  }
  std::ranges::sort(values);
  if (values.size() < 10) return {name};
  const double best = values.front(), last = values[values.size() * 3 / 4];
  if (!(values.back() - last > last - best) || last == best) return {name};
  const double from = sign * (best - 0.05 * (last - best)),
               to = sign * (last + 0.1 * (last - best));
  return {name, false, std::min(from, to), std::max(from, to)};
}

std::size_t count_beyond(const ChartAxis& axis, const std::vector<ChartPoint>& points) {
  if (!axis.low || !axis.high) return 0;
  const auto beyond = [&](const ChartPoint& p) { return p.y < *axis.low || p.y > *axis.high; };
  return static_cast<std::size_t>(std::ranges::count_if(points, beyond));
}

/// The best value so far of the run, whichever study found it.
std::vector<ChartPoint> incumbent_steps(const EvaluationRows& rows, bool maximized) {
  std::vector<ChartPoint> steps;
  double best = no_best;
  for (std::size_t i = 0; i < rows.best.size(); ++i) {
    const double value = rows.best[i];
    if (std::isnan(value)) continue;
    const bool better = std::isnan(best) || (maximized ? value > best : value < best);
    if (!better) continue;
    best = value;
    steps.push_back({static_cast<double>(i + 1), value});
  }
  return steps;
}

std::string evaluations_chart(const EvaluationRows& rows, const std::string& value_name,
                              bool maximized) {
  std::vector<ChartPoint> points;
  std::size_t failed = 0;
  for (std::size_t i = 0; i < rows.value.size(); ++i) {
    failed += std::isfinite(rows.value[i]) ? 0 : 1;
    points.push_back({static_cast<double>(i + 1), rows.value[i]});
  }
  const ChartAxis axis = value_axis(value_name, rows.value, maximized);
  const std::size_t beyond = count_beyond(axis, points);
  Chart chart("Evaluations", {"evaluation"}, axis);
  points = thinned_dots(points);
  chart.dots({"evaluated", 1, true}, points);
  chart.steps({"best so far", 0}, incumbent_steps(rows, maximized),
              static_cast<double>(rows.value.size()));
  for (const ChartPoint& point : points) {
    chart.tip(point, fmt::format("evaluation {:.0f}\n{} {:.8g}", point.x, value_name, point.y));
  }
  chart.tips_by_point();
  std::string caption;
  if (beyond > 0) caption = fmt::format("{} worse values are drawn at the border. ", beyond);
  if (failed > 0) caption += fmt::format("{} evaluations gave no value.", failed);
  chart.caption(caption);
  return chart.figure();
}

std::string slice_chart(const EvaluationRows& rows, std::size_t variable,
                        const std::string& value_name, bool maximized) {
  std::vector<ChartPoint> points;
  for (std::size_t i = 0; i < rows.value.size(); ++i) {
    points.push_back({rows.variables[variable][i], rows.value[i]});
  }
  points = thinned_dots(points);
  const std::string& name = rows.names[variable];
  Chart chart(fmt::format("{} against {}", value_name, name), {name},
              value_axis(value_name, rows.value, maximized));
  chart.dots({"", 1, true}, points);
  for (const ChartPoint& point : points) {
    chart.tip(point, fmt::format("{} {:.6g}\n{} {:.8g}", name, point.x, value_name, point.y));
  }
  chart.tips_by_point();
  return chart.figure();
}

std::string model_html(const Json& result) {
  const Json& lengths = member_at(result, {"model", "lengths"});
  if (!lengths.is_object() || lengths.empty()) return {};
  std::vector<std::pair<std::string, double>> scales;
  for (const auto& [name, value] : lengths.items()) {
    if (value.is_number()) scales.emplace_back(clean(name), value.get<double>());
  }
  std::ranges::stable_sort(scales, {}, [](const auto& one) { return one.second; });
  std::vector<std::vector<std::string>> rows{{"variable", "length scale", "influence"}};
  const double least = scales.empty() ? 1 : scales.front().second;
  for (const auto& [name, length] : scales) {
    rows.push_back({html(name),
                    data_html("model.lengths." + html(name), length, fmt::format("{:.3g}", length)),
                    bar_html(length > 0 ? least / length : 0)});
  }
  std::string text = "<h3>Model</h3>\n";
  if (const auto fit = number_at(result, {"model", "fit"})) {
    text += fmt::format(
        "<p class=\"note\">The model predicts {} of the variance of the values ({}). Length scales "
        "are fractions of the range of each variable; short ones mean influence.</p>\n",
        data_html("model.fit", *fit, fmt::format("{:.3g} %", 100 * *fit)),
        html(text_at(result, {"model", "fit_in_words"}).value_or("")));
  }
  return text + table_html(rows, 1);
}

}  // namespace

std::string evaluations_html(const RunFiles& files) {
  std::vector<std::string> figures;
  if (files.evaluations) {
    const EvaluationRows& rows = *files.evaluations;
    const std::string value_name = value_name_of(files);
    figures.push_back(evaluations_chart(rows, value_name, is_maximized(files)));
    for (std::size_t k = 0; k < std::min(rows.names.size(), max_slices); ++k) {
      figures.push_back(slice_chart(rows, k, value_name, is_maximized(files)));
    }
  }
  return figures_html(figures) + model_html(files.result);
}

}  // namespace kiln::cli
