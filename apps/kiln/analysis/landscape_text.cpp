// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kiln/kernels/landscape/local_entropy.hpp"

#include "analysis/landscape.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_rows = 20, label_width = 13;

std::string number(double value) { return fmt::format("{:.5g}", value + 0.0); }

// Of a share of the points.
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string interval_text(const SliceAxis& axis) {
  return fmt::format("{} {} .. {}", clean(axis.name), number(axis.low), number(axis.high));
}

double value_at(const Landscape& landscape, std::int32_t pixel) {
  return landscape.slice.objective_of(landscape.slice.value[static_cast<std::size_t>(pixel)]);
}

// In units of the objective, whatever its sense.
double height_of(const Landscape& landscape, double stored) {
  return std::abs(landscape.slice.units.objective_of_stored.slope()) * stored;
}

std::string points_without_value(const Slice& slice) {
  std::string text;
  if (slice.not_finite > 0) text = fmt::format("{} not finite", slice.not_finite);
  if (slice.infeasible == 0) return text;
  return text + fmt::format("{}{} not feasible", text.empty() ? "" : ", ", slice.infeasible);
}

std::string basins_line(const Landscape& landscape) {
  const std::size_t count = landscape.basins.size();
  const std::string others = landscape.shallow == 0 ? "no" : fmt::format("{}", landscape.shallow);
  return fmt::format("{} with barriers above {:.4g} ({:g} % of the range of values); {} other {}",
                     count, height_of(landscape, landscape.threshold),
                     100 * landscape.options.threshold, others,
                     landscape.shallow == 1 ? "minimum" : "minima");
}

std::string place_text(const Slice& slice, std::int32_t pixel) {
  const auto text = [](double x) { return fmt::format("{:.4g}", x + 0.0); };
  return fmt::format("{}, {}", text(slice.x_of(pixel)), text(slice.y_of(pixel)));
}

std::vector<std::vector<std::string>> rows_of(const Landscape& landscape) {
  const Slice& slice = landscape.slice;
  std::vector<std::vector<std::string>> rows{
      {"basin", clean(slice.value_name), "minimum at", "share", "barrier", "saddle at", "to"}};
  for (std::size_t i = 0; i < std::min(landscape.basins.size(), max_rows); ++i) {
    const Basin& basin = landscape.basins[i];
    std::vector<std::string> row{fmt::format("{}", i + 1),
                                 number(value_at(landscape, basin.minimum)),
                                 place_text(slice, basin.minimum), percent(basin.share)};
    if (basin.barrier) {
      row.insert(row.end(),
                 {number(height_of(landscape, *basin.barrier)), place_text(slice, basin.saddle),
                  fmt::format("{}", basin.behind_it + 1)});
    } else {
      row.insert(row.end(), {"-", "-", "-"});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void add_lines(std::string& text, std::string_view label, std::string_view prose,
               std::size_t columns) {
  for (const std::string& line : wrap(prose, columns - label_width)) {
    text += fmt::format("{:{}}{}\n", label, label_width, line);
    label = "";
  }
}

Json axis_json(const SliceAxis& axis) {
  return {{"name", clean(axis.name)}, {"low", axis.low}, {"high", axis.high}};
}

Json point_json(const Landscape& landscape, std::int32_t pixel) {
  return {{"x", landscape.slice.x_of(pixel)},
          {"y", landscape.slice.y_of(pixel)},
          {"value", value_at(landscape, pixel)}};
}

Json basin_json(const Landscape& landscape, const Basin& basin) {
  Json json = {{"minimum", point_json(landscape, basin.minimum)},
               {"share", basin.share},
               {"barrier", nullptr},
               {"saddle", nullptr},
               {"to", nullptr}};
  if (!basin.barrier) return json;
  json["barrier"] = height_of(landscape, *basin.barrier);
  json["saddle"] = point_json(landscape, basin.saddle);
  json["to"] = basin.behind_it + 1;
  return json;
}

}  // namespace

std::string text_of(const Landscape& landscape, std::size_t columns) {
  const Slice& slice = landscape.slice;
  std::string text;
  const auto add = [&](std::string_view label, std::string_view prose) {
    add_lines(text, label, prose, columns);
  };
  add("landscape", fmt::format("{}, {} {}", clean(slice.problem), verb_of(slice.units.sense),
                               clean(slice.value_name)));
  add("slice", fmt::format("{}, {}; {} x {} points", interval_text(slice.x), interval_text(slice.y),
                           slice.resolution, slice.resolution));
  if (slice.variables > 2) {
    add("through", fmt::format("{} for the {} other variable{}", slice.through_text,
                               slice.variables - 2, slice.variables == 3 ? "" : "s"));
  }
  const double a = slice.objective_of(landscape.least), b = slice.objective_of(landscape.greatest);
  const std::string without = points_without_value(slice);
  add("values", fmt::format("{} .. {}{}", number(std::min(a, b)), number(std::max(a, b)),
                            without.empty() ? "" : "; points left out: " + without));
  add("basins", basins_line(landscape));
  text += "\n" + stacked_table(rows_of(landscape), 0, columns);
  if (landscape.basins.size() > max_rows) {
    text += fmt::format("... and {} more; --json lists all\n", landscape.basins.size() - max_rows);
  }
  text += "\n";
  add("ruggedness",
      fmt::format("{:.3g} nats of at most {:.3g}: the mean entropy of the values, in {} bins, in "
                  "windows of {} x {} points",
                  landscape.ruggedness, landscape.max_ruggedness, LocalEntropy::bins,
                  landscape.options.window, landscape.options.window));
  for (const std::string& sentence : advice_of(landscape)) add("advice", sentence);
  return text;
}

Json json_of(const Landscape& landscape) {
  const Slice& slice = landscape.slice;
  const double a = slice.objective_of(landscape.least), b = slice.objective_of(landscape.greatest);
  Json json = {
      {"schema", "kiln.landscape/1"},
      {"problem", clean(slice.problem)},
      {"objective", {{"name", clean(slice.value_name)}, {"sense", option_of(slice.units.sense)}}},
      {"x", axis_json(slice.x)},
      {"y", axis_json(slice.y)},
      {"resolution", slice.resolution},
      {"through", clean(slice.through_text)},
      {"point", numbers_of(slice.through)},  // the axes have values of it, too
      {"device", slice.device},
      {"range", {{"low", std::min(a, b)}, {"high", std::max(a, b)}}},
      {"left_out", {{"not_finite", slice.not_finite}, {"infeasible", slice.infeasible}}},
      {"threshold", height_of(landscape, landscape.threshold)},
      {"shallow_minima", landscape.shallow}};
  json["basins"] = Json::array();
  for (const Basin& basin : landscape.basins) {
    json["basins"].push_back(basin_json(landscape, basin));
  }
  json["ruggedness"] = {{"mean_local_entropy", landscape.ruggedness},
                        {"most", landscape.max_ruggedness},
                        {"window", landscape.options.window}};
  const double barrier = landscape.highest_barrier();
  json["highest_barrier"] = barrier;
  json["beta_min"] = barrier > 0 ? Json(1 / barrier) : Json(nullptr);
  json["advice"] = advice_of(landscape);
  return json;
}

}  // namespace kiln::cli
