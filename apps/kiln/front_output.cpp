// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "front_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kiln/indicators.hpp"

#include "csv_cells.hpp"
#include "front_plot.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

Points scaled(const Points& points, const FrontBox& box) {
  Points result;
  for (const std::vector<double>& point : points) result.push_back(box.scaled(point));
  return result;
}

std::string values_text(const Front& front, const std::vector<double>& values) {
  std::string text;
  for (std::size_t k = 0; k < values.size(); ++k) {
    text += fmt::format("{}{} {:.6g}", k == 0 ? "" : "   ", clean(front.names[k]),
                        front.shown(k, values[k]));
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
  for (const std::string& name : front.names) text += quoted_cell(clean(name)) + ",";
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
  std::string text = "front  no member: no state that was found is feasible\n";
  for (std::size_t i = 0; i < std::min(most, front.nearest.size()); ++i) {
    const FrontMember& member = front.nearest[i];
    text += fmt::format("  {:<14} {}   violation {:.6g}\n", i == 0 ? "nearest" : "",
                        values_text(front, member.values), member.violation);
  }
  return text;
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
  text += fmt::format("   reference {}\n", values_text(front, front.box.reference_values()));
  if (front.members.empty()) return text;
  std::vector<std::pair<std::string, std::size_t>> shown{{"knee", front.knee}};
  for (std::size_t k = 0; k < front.extremes.size(); ++k) {
    shown.emplace_back(
        fmt::format("{} {}", front.maximized[k] ? "most" : "least", clean(front.names[k])),
        front.extremes[k]);
  }
  std::size_t width = 14;
  for (const auto& [label, member] : shown) width = std::max(width, label.size());
  for (const auto& [label, member] : shown) {
    text += fmt::format("  {:<{}} {}\n", label, width,
                        values_text(front, front.members[member].values));
  }
  const std::string beside =
      diagnostic(result, "igd", "IGD") + diagnostic(result, "igd_plus", "IGD+") +
      diagnostic(result, "epsilon", "epsilon") + diagnostic(result, "spread", "spread");
  if (!beside.empty()) {
    text +=
        fmt::format("  {:<{}} {}\n", "beside truth", width, beside.substr(0, beside.size() - 3));
  }
  return text;
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
