// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/series/series_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t first_entries = 10;
constexpr std::size_t max_frequencies = 1024;
constexpr double significant = 0.05;

std::string number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.5g}", value); }

std::string name_for_table(const SeriesAnalysis& analysis) {
  constexpr std::size_t longest = 24;
  std::string name = clean(analysis.name);
  if (name.size() <= longest) return name;
  // No character is cut: bytes that continue one are 10xxxxxx.
  std::size_t end = longest - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0u) == 0x80u) --end;
  return name.substr(0, end) + "...";
}

std::string summary_of(const std::vector<SeriesAnalysis>& analyses) {
  Rows rows{{"column", "rows", "missing", "mean", "deviation", "time"}};
  for (const SeriesAnalysis& a : analyses) {
    rows.push_back({name_for_table(a), std::to_string(a.rows), std::to_string(a.missing),
                    number(a.mean), number(a.deviation), number(a.autocorrelation_time)});
  }
  return table_text(rows, 1) + "time: integrated autocorrelation time, in rows\n";
}

std::string model_text(const SeriesForecast& forecast) {
  switch (forecast.model) {
    case SeriesModel::local_level:
      return fmt::format("local level, variance ratio {:.3g}", forecast.level_ratio);
    case SeriesModel::local_trend:
      return fmt::format("local trend, variance ratios {:.3g} and {:.3g}", forecast.level_ratio,
                         forecast.slope_ratio);
    default:
      return fmt::format("autoregression of order {}", forecast.order);
  }
}

std::size_t shown_of(std::size_t count, bool whole) {
  return whole ? count : std::min(count, first_entries);
}

std::string more_text(std::size_t count, std::size_t shown, const char* what) {
  if (shown == count) return "";
  return fmt::format("... and {} more {}\n", count - shown, what);
}

std::string forecast_text(const SeriesAnalysis& analysis, bool whole) {
  const SeriesForecast& forecast = *analysis.forecast;
  Rows rows{{"row", "forecast", "lower 5 %", "upper 5 %"}};
  const std::size_t count = forecast.mean.size(), shown = shown_of(count, whole);
  for (std::size_t h = 0; h < shown; ++h) {
    rows.push_back({std::to_string(analysis.rows + 1 + static_cast<std::int64_t>(h)),
                    number(forecast.mean[h]), number(forecast.lower[h]),
                    number(forecast.upper[h])});
  }
  return fmt::format("forecast by {}\n", model_text(forecast)) + table_text(rows, 0) +
         more_text(count, shown, "steps");
}

std::string spectrum_text(const Spectrum& spectrum) {
  if (std::isnan(spectrum.dominant_period)) return "no period stands out\n";
  const bool stands_out = spectrum.p_value < significant;
  const std::string p =
      spectrum.p_value > 0 ? fmt::format("= {:.2g}", spectrum.p_value) : "< 1e-300";
  return fmt::format("period {:.5g} rows{}: p {} against red noise of coefficient {:.2f}\n",
                     spectrum.dominant_period, stands_out ? "" : " does not stand out", p,
                     spectrum.red_noise_coefficient);
}

std::string changes_text(const ChangePoints& found, bool whole) {
  if (found.changes.empty()) return "no change of the mean\n";
  Rows rows{{"change at row", "mean before", "mean after"}};
  const std::size_t count = found.changes.size(), shown = shown_of(count, whole);
  for (std::size_t i = 0; i < shown; ++i) {
    const ChangePoint& change = found.changes[i];
    rows.push_back(
        {std::to_string(change.row + 1), number(change.mean_before), number(change.mean_after)});
  }
  return table_text(rows, 0) + more_text(count, shown, "changes");
}

Json list_of(const std::vector<double>& values) { return values; }

Json forecast_json(const SeriesAnalysis& analysis) {
  const SeriesForecast& forecast = *analysis.forecast;
  Json json{{"model", name_of(forecast.model)}};
  if (forecast.model == SeriesModel::autoregression) {
    json["order"] = forecast.order;
    json["coefficients"] = forecast.coefficients;
  } else {
    json["level_ratio"] = forecast.level_ratio;
    json["slope_ratio"] = forecast.slope_ratio;
  }
  json["noise_variance"] = forecast.noise_variance;
  json["aicc"] = forecast.aicc;
  json["first_row"] = analysis.rows + 1;
  json["band"] = 0.9;
  json["mean"] = list_of(forecast.mean);
  json["lower"] = list_of(forecast.lower);
  json["upper"] = list_of(forecast.upper);
  return json;
}

// Means over bands of equal width, so that a spectrum of any length makes a curve.
std::vector<double> band_means(const std::vector<double>& values) {
  const std::size_t width = (values.size() + max_frequencies - 1) / max_frequencies;
  std::vector<double> means;
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    const std::size_t end = std::min(values.size(), begin + width);
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += values[k];
    means.push_back(sum / static_cast<double>(end - begin));
  }
  return means;
}

Json spectrum_json(const Spectrum& spectrum) {
  return {{"dominant_period", spectrum.dominant_period},
          {"dominant_power", spectrum.dominant_power},
          {"p_value", spectrum.p_value},
          {"red_noise_coefficient", spectrum.red_noise_coefficient},
          {"frequency", list_of(band_means(spectrum.frequency))},
          {"power", list_of(band_means(spectrum.power))},
          {"red_noise", list_of(band_means(spectrum.red_noise))}};
}

Json changes_json(const ChangePoints& found) {
  Json changes = Json::array();
  for (const ChangePoint& change : found.changes) {
    changes.push_back({{"row", change.row + 1},
                       {"mean_before", change.mean_before},
                       {"mean_after", change.mean_after},
                       {"deviation_before", change.deviation_before},
                       {"deviation_after", change.deviation_after}});
  }
  return {{"noise_autocorrelation", found.autocorrelation},
          {"rows_per_block", found.rows_per_block},
          {"changes", changes}};
}

}  // namespace

std::string series_text(const std::vector<SeriesAnalysis>& analyses, bool whole,
                        std::size_t columns) {
  std::string text = summary_of(analyses);
  for (const SeriesAnalysis& analysis : analyses) {
    std::string part;
    if (analysis.forecast) part += forecast_text(analysis, whole);
    if (analysis.spectrum) part += spectrum_text(*analysis.spectrum);
    if (analysis.change_points) part += changes_text(*analysis.change_points, whole);
    for (const std::string& note : analysis.notes) part += "note: " + note + "\n";
    if (!part.empty()) text += "\n" + clean(analysis.name) + "\n" + part;
  }
  return fitted(text, columns);
}

nlohmann::ordered_json series_json(const std::vector<SeriesAnalysis>& analyses) {
  Json all = Json::array();
  for (const SeriesAnalysis& analysis : analyses) {
    Json json{{"name", escaped(analysis.name)},
              {"rows", analysis.rows},
              {"missing", analysis.missing},
              {"first_row_of_stretch", analysis.stretch_begin + 1},
              {"rows_of_stretch", analysis.stretch_rows},
              {"mean", analysis.mean},
              {"deviation", analysis.deviation},
              {"autocorrelation_time", analysis.autocorrelation_time}};
    if (analysis.forecast) json["forecast"] = forecast_json(analysis);
    if (analysis.spectrum) json["spectrum"] = spectrum_json(*analysis.spectrum);
    if (analysis.change_points) json["change_points"] = changes_json(*analysis.change_points);
    json["notes"] = analysis.notes;
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace kiln::cli
