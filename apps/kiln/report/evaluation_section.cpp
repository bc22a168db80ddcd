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
  Chart chart("Evaluations", {"evaluation"}, {value_name});
  points = thinned_dots(points);
  chart.dots({"evaluated", 1, true}, points);
  chart.steps({"best so far", 0}, incumbent_steps(rows, maximized),
              static_cast<double>(rows.value.size()));
  for (const ChartPoint& point : points) {
    chart.tip(point, fmt::format("evaluation {:.0f}\n{} {:.8g}", point.x, value_name, point.y));
  }
  chart.tips_by_point();
  if (failed > 0) chart.caption(fmt::format("{} evaluations gave no value.", failed));
  return chart.figure();
}

std::string slice_chart(const EvaluationRows& rows, std::size_t variable,
                        const std::string& value_name) {
  std::vector<ChartPoint> points;
  for (std::size_t i = 0; i < rows.value.size(); ++i) {
    points.push_back({rows.variables[variable][i], rows.value[i]});
  }
  points = thinned_dots(points);
  const std::string& name = rows.names[variable];
  Chart chart(fmt::format("{} against {}", value_name, name), {name}, {value_name});
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
      figures.push_back(slice_chart(rows, k, value_name));
    }
  }
  return figures_html(figures) + model_html(files.result);
}

}  // namespace kiln::cli
