// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kiln/indicators.hpp"
#include "kiln/problems/csv.hpp"

#include "front_plot.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t min_label_width = 12;  // "beside truth"

Points scaled(const Points& points, const FrontBox& box) {
  Points result;
  for (const std::vector<double>& point : points) result.push_back(box.scaled(point));
  return result;
}

// A line of what is said about a front.
struct Row {
  std::string label;
  std::vector<double> values;  // minimised
  std::string rest{};          // beside them
};

// Each objective has a column, `name = value`.
std::string rows_text(const Front& front, const std::vector<Row>& rows) {
  std::size_t label_width = min_label_width;
  std::vector<std::size_t> widths(front.names.size(), 0);
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows) {
    label_width = std::max(label_width, row.label.size());
    cells.emplace_back();
    for (std::size_t k = 0; k < row.values.size(); ++k) {
      cells.back().push_back(
          fmt::format("{} = {:.6g}", clean(front.names[k]), front.shown(k, row.values[k])));
      widths[k] = std::max(widths[k], cells.back().back().size());
    }
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line = fmt::format("  {:<{}}", rows[i].label, label_width);
    for (std::size_t k = 0; k < cells[i].size(); ++k) {
      line += fmt::format("   {:<{}}", cells[i][k], widths[k]);
    }
    if (!rows[i].rest.empty()) line += "   " + rows[i].rest;
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string diagnostic(const Result& result, const char* name, const char* label) {
  const auto found = result.diagnostics.find(name);
  if (found == result.diagnostics.end()) return {};
  return fmt::format("{} {:.5g}   ", label, found->second);
}

std::string members_csv(const Front& front, const std::vector<FrontMember>& members,
                        bool with_violation) {
  std::string text;
  for (const std::string& name : front.names) text += problems::csv_cell(escaped(name)) + ",";
  if (with_violation) text += "violation,";
  if (!members.empty()) {
    std::size_t number = 0;
    for (const BlockValues& block : members.front().state) {
      const std::size_t count = std::visit([](const auto& values) { return values.size(); }, block);
      for (std::size_t i = 0; i < count; ++i) text += fmt::format("x[{}],", ++number);
    }
  }
  text.back() = '\n';
  for (const FrontMember& member : members) {
    for (std::size_t k = 0; k < member.values.size(); ++k) {
      text += fmt::format("{},", front.shown(k, member.values[k]));
    }
    if (with_violation) text += fmt::format("{},", member.violation);
    for (const BlockValues& block : member.state) {
      std::visit(
          [&](const auto& values) {
            for (const auto value : values) text += fmt::format("{},", value);
          },
          block);
    }
    text.back() = '\n';
  }
  return text;
}

// Of a run that found nothing feasible.
std::string nearest_text(const Front& front) {
  constexpr std::size_t most = 3;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < std::min(most, front.nearest.size()); ++i) {
    const FrontMember& member = front.nearest[i];
    rows.push_back({i == 0 ? "nearest" : "", member.values,
                    fmt::format("violation {:.6g}", member.violation)});
  }
  return "front  no member: no state that was found is feasible\n" + rows_text(front, rows);
}

}  // namespace

void compare_with(const Points& reference, Result& result) {
  if (!result.front || result.front->members.empty() || reference.empty()) return;
  const Points mine = scaled(result.front->points(), result.front->box);
  const Points other = scaled(reference, result.front->box);
  result.diagnostics["igd"] = inverted_generational_distance(mine, other);
  result.diagnostics["igd_plus"] = inverted_generational_distance_plus(mine, other);
  result.diagnostics["epsilon"] = additive_epsilon(mine, other);
  result.diagnostics["spread"] = spread(mine, other);
}

std::string front_text(const Result& result) {
  const Front& front = *result.front;
  if (front.members.empty() && !front.nearest.empty()) return nearest_text(front);
  std::string text = fmt::format("front  {} members   hypervolume {:.6g}", front.members.size(),
                                 front.hypervolume);
  if (front.half_width > 0) text += fmt::format(" +- {:.2g}", front.half_width);
  text += "\n";
  std::vector<Row> rows;
  const auto add_member = [&](const std::string& label, std::size_t member) {
    rows.push_back({label, front.members[member].values});
  };
  if (!front.members.empty()) {
    add_member("knee", front.knee);
    for (std::size_t k = 0; k < front.extremes.size(); ++k) {
      const char* const end = front.maximized[k] ? "most" : "least";
      add_member(fmt::format("{} {}", end, clean(front.names[k])), front.extremes[k]);
    }
  }
  rows.push_back({"reference", front.box.reference_values()});
  const std::string beside =
      diagnostic(result, "igd", "IGD") + diagnostic(result, "igd_plus", "IGD+") +
      diagnostic(result, "epsilon", "epsilon") + diagnostic(result, "spread", "spread");
  if (!beside.empty()) rows.push_back({"beside truth", {}, beside.substr(0, beside.size() - 3)});
  return text + rows_text(front, rows);
}

std::string front_csv(const Front& front) { return members_csv(front, front.members, false); }

std::string infeasible_csv(const Front& front) { return members_csv(front, front.nearest, true); }

std::string front_picture(const Result& result, const Points& reference) {
  const Front& front = *result.front;
  FrontPlot plot;
  plot.title = fmt::format("{}, {}", clean(result.problem), result.schedule);
  for (const std::string& name : front.names) plot.names.push_back(clean(name));
  plot.maximized = front.maximized;
  plot.points = front.points();
  plot.reference = reference;
  return front_svg(plot);
}

}  // namespace kiln::cli
