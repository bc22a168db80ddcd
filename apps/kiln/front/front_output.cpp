// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front/front_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "kiln/fronts/indicators.hpp"
#include "kiln/problems/csv.hpp"

#include "experiments/evaluation_variables.hpp"
#include "front/front_plot.hpp"
#include "front/reference_front.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t min_label_width = 12;
// A member beside a point of another front; each takes some 20 ns, and a run waits for it to end.
constexpr std::size_t max_pairs = 2'000'000;
constexpr std::size_t max_drawn = 2000;  // points of another front

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

// Each objective has a column, `name = value unit`.
std::string rows_text(const Front& front, const std::vector<Row>& rows) {
  const std::vector<std::string> names = without_units(front.names);
  std::size_t label_width = min_label_width;
  std::vector<std::size_t> widths(front.names.size(), 0);
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows) {
    label_width = std::max(label_width, row.label.size());
    cells.emplace_back();
    for (std::size_t k = 0; k < row.values.size(); ++k) {
      const std::string unit = names[k] == front.names[k] ? "" : named_unit(front.names[k]).unit;
      cells.back().push_back(fmt::format("{} = {:.6g}{}{}", clean(names[k]),
                                         front.shown(k, row.values[k]), unit.empty() ? "" : " ",
                                         clean(unit)));
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
                        bool with_violation, const Problem& problem) {
  std::string text;
  for (const std::string& name : front.names) text += problems::csv_cell(escaped(name)) + ",";
  if (with_violation) text += "violation,";
  if (!members.empty()) {
    const EvaluationVariables variables(problem);
    for (std::size_t i = 0; i < variables.count(); ++i) {
      text += problems::csv_cell(escaped(variables.name(i))) + ",";
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

const char* no_knee_text(NoKnee reason) {
  switch (reason) {
    case NoKnee::few:
      return "a front of fewer than three members has no knee";
    case NoKnee::end:
      return "the member with the least sum of scaled objectives is an end of the front";
    case NoKnee::corner:
      return "the member with the least sum of scaled objectives is close to an end of the front";
    case NoKnee::straight:
      return "the least sum of objectives, each scaled to 0 .. 1, is above 0.99";
  }
  return "?";
}

// The variables of the solution, where they have names.
std::string chosen_text(const Result& result) {
  std::string text;
  for (const auto& [name, value] : result.named_solution) {
    const NamedUnit known = named_unit(name);
    const std::optional<double> number = number_in(value);
    text += fmt::format("{}{} = {}{}{}", text.empty() ? "" : "   ", clean(known.name),
                        number ? fmt::format("{:.6g}", *number) : clean(value),
                        known.unit.empty() ? "" : " ", clean(known.unit));
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
  return "front  no member: the run found no feasible state\n" + rows_text(front, rows);
}

}  // namespace

void compare_with(const Points& reference, Result& result) {
  if (!result.front || result.front->members.empty() || reference.empty()) return;
  const Points mine = scaled(result.front->points(), result.front->box);
  const std::size_t most = std::max<std::size_t>(max_pairs / mine.size(), 1);
  const Points other = scaled(thinned_front(reference, most), result.front->box);
  result.diagnostics["igd"] = inverted_generational_distance(mine, other);
  result.diagnostics["igd_plus"] = inverted_generational_distance_plus(mine, other);
  result.diagnostics["epsilon"] = additive_epsilon(mine, other);
  result.diagnostics["spread"] = spread(mine, other);
}

std::string front_text(const Result& result, const char* other) {
  const Front& front = *result.front;
  if (front.members.empty() && !front.nearest.empty()) return nearest_text(front);
  std::string text = fmt::format("front  {} member{}   hypervolume {:.6g}", front.members.size(),
                                 front.members.size() == 1 ? "" : "s", front.hypervolume);
  if (front.half_width > 0) text += fmt::format(" +- {:.2g}", front.half_width);
  text += "\n";
  std::vector<Row> rows;
  const auto add_member = [&](const std::string& label, std::size_t member) {
    rows.push_back({label, front.members[member].values});
  };
  const std::optional<NoKnee> no_knee =
      front.members.empty() ? NoKnee::few : why_no_knee(front.points());
  const std::vector<std::string> names = without_units(front.names);
  if (!front.members.empty()) {
    add_member(no_knee ? "solution" : "knee", front.chosen);
    for (std::size_t k = 0; k < front.extremes.size(); ++k) {
      const char* const end = front.maximized[k] ? "greatest" : "least";
      add_member(fmt::format("{} {}", end, clean(names[k])), front.extremes[k]);
    }
  }
  rows.push_back({"reference", front.box.reference_values()});
  const std::string beside =
      diagnostic(result, "igd", "IGD") + diagnostic(result, "igd_plus", "IGD+") +
      diagnostic(result, "epsilon", "epsilon") + diagnostic(result, "spread", "spread");
  if (!beside.empty()) {
    rows.push_back(
        {"compared to", {}, fmt::format("{}   {}", other, beside.substr(0, beside.size() - 3))});
  }
  if (no_knee && !front.members.empty()) {
    rows.push_back({"no knee", {}, no_knee_text(*no_knee)});
    rows.push_back({"", {}, "the solution is the member nearest to the ideal point"});
  }
  const std::string chosen = chosen_text(result);
  if (!chosen.empty()) rows.push_back({"variables", {}, chosen});
  return text + rows_text(front, rows);
}

std::string front_csv(const Front& front, const Problem& problem) {
  return members_csv(front, front.members, false, problem);
}

std::string infeasible_csv(const Front& front, const Problem& problem) {
  return members_csv(front, front.nearest, true, problem);
}

std::string front_picture(const Result& result, const Points& reference) {
  const Front& front = *result.front;
  FrontPlot plot;
  plot.title = fmt::format("{}, {}", clean(result.problem), result.schedule);
  for (const std::string& name : front.names) plot.names.push_back(clean(name));
  plot.maximized = front.maximized;
  plot.points = front.points();
  plot.reference = thinned_front(reference, max_drawn);
  return front_svg(plot);
}

}  // namespace kiln::cli
