// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "diagnosis/diagnosis_words.hpp"
#include "output/text.hpp"
#include "report/chart.hpp"
#include "report/comparison.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t max_front_dots = 2000, max_compared = 200, max_run_curves = 60, max_named = 6;

int color_of(std::size_t group) { return static_cast<int>(group % max_named); }

std::string seconds_text(double seconds) {
  return std::isfinite(seconds) ? duration_text(seconds) : "not reached";
}

std::string interval_text(const Median& median, bool seconds) {
  if (!median.low || !median.high) return "-";
  const auto text = [&](double value) {
    return seconds ? seconds_text(value) : fmt::format("{:.8g}", value);
  };
  return fmt::format("{} .. {}", text(*median.low), text(*median.high));
}

Rows run_rows(const ComparedProblem& problem) {
  const bool sampled = std::ranges::any_of(problem.runs, [](const ComparedRun& run) {
    return member_at(run.files->result, {"sample"}).is_object();
  });
  Rows rows{{"run", "settings", "seed", html(problem.value_name), "gap", "time to target",
             "run time", "stop", "verified"}};
  if (sampled) rows.front().insert(rows.front().end(), {"least bulk ESS", "largest R-hat"});
  for (const ComparedRun& run : problem.runs) {
    if (rows.size() > max_compared) break;
    const RunFiles& files = *run.files;
    const auto gap = number_at(files.result, {"objective", "gap"});
    rows.push_back(
        {html(files.folder), html(problem.groups[run.group]), html(run.seed),
         run.best ? data_html("objective.best", *run.best, fmt::format("{:.10g}", *run.best)) : "-",
         gap ? fmt::format("{:.4g} %", 100 * *gap) : "-",
         run.hit_s ? seconds_text(*run.hit_s) : "not reached", seconds_text(run_seconds(files)),
         html(files.under_way ? "in progress"
                              : words_of(text_at(files.result, {"stop"}).value_or("no end"))),
         member_at(files.result, {"verified"}) == true ? "yes" : "no"});
    if (!sampled) continue;
    for (const char* name : {"ess_bulk_min", "r_hat_max"}) {
      const auto value = number_at(files.result, {"sample", name, "value"});
      rows.back().push_back(value ? fmt::format("{:.5g}", *value) : "-");
    }
  }
  return rows;
}

/// A row for each group: medians over its runs.
Rows group_rows(const ComparedProblem& problem) {
  Rows rows{{"settings", "runs", "reached", "median " + html(problem.value_name), "95 % interval",
             "median time to target", "95 % interval"}};
  for (std::size_t g = 0; g < problem.groups.size(); ++g) {
    std::vector<double> values, times;
    std::size_t reached = 0, runs = 0;
    for (const ComparedRun& run : problem.runs) {
      if (run.group != g) continue;
      ++runs;
      reached += run.hit_s ? 1 : 0;
      times.push_back(run.hit_s.value_or(infinite));
      if (run.best) values.push_back(*run.best);
    }
    if (values.empty()) continue;
    const Median value = median_of(values), time = median_of(times);
    rows.push_back(
        {html(problem.groups[g]), fmt::format("{}", runs), fmt::format("{}", reached),
         data_html(fmt::format("median.{}", g), value.value, fmt::format("{:.8g}", value.value)),
         interval_text(value, false), seconds_text(time.value), interval_text(time, true)});
  }
  return rows;
}

/// The first time above 0 at which a run had a value; a logarithmic axis begins there.
double first_time(const ComparedProblem& problem) {
  double first = infinite;
  for (const ComparedRun& run : problem.runs) {
    for (const IncumbentRow& row : run.incumbents) {
      if (row.time_s > 0) first = std::min(first, row.time_s);
    }
  }
  return std::isfinite(first) ? first : 1;
}

/// The share of the runs of each group that have reached the target by a time.
std::string target_chart(const ComparedProblem& problem) {
  Chart chart(fmt::format("Runs that reached {} {:.10g}", problem.value_name, problem.target),
              {"time [s]", true}, {"share of the runs", false, 0, 1});
  const double begin = first_time(problem);
  double end = begin;
  for (const ComparedRun& run : problem.runs) end = std::max(end, run_seconds(*run.files));
  for (std::size_t g = 0; g < problem.groups.size(); ++g) {
    std::vector<double> times;
    double runs = 0;
    for (const ComparedRun& run : problem.runs) {
      if (run.group != g) continue;
      ++runs;
      if (run.hit_s) times.push_back(std::max(*run.hit_s, begin));
    }
    std::ranges::sort(times);
    std::vector<ChartPoint> steps;
    steps.push_back({begin, 0});
    for (std::size_t i = 0; i < times.size(); ++i) {
      steps.push_back({times[i], static_cast<double>(i + 1) / runs});
      chart.tip(steps.back(), fmt::format("{}\n{} of {} runs by {:.4g} s", problem.groups[g], i + 1,
                                          runs, times[i]));
    }
    chart.steps({problem.groups[g], color_of(g)}, steps,
                std::max(end, times.empty() ? begin : times.back()));
  }
  chart.caption(fmt::format("Target: {}.", problem.target_origin));
  chart.tips_by_point();
  return chart.figure();
}

/// A dot for each run beside the median of its group.
std::string seeds_chart(const ComparedProblem& problem) {
  Chart chart(
      "Best value of each run",
      {"settings", false, 0.5, static_cast<double>(problem.groups.size()) + 0.5, problem.groups},
      {problem.value_name});
  for (std::size_t g = 0; g < problem.groups.size(); ++g) {
    std::vector<ChartPoint> dots;
    std::vector<double> values;
    const double column = static_cast<double>(g + 1);
    for (const ComparedRun& run : problem.runs) {
      if (run.group != g || !run.best) continue;
      // Side by side: equal values would hide each other.
      const double shift = 0.5 * (static_cast<double>(dots.size() * 7 % 11) / 11 - 0.5);
      dots.push_back({column + shift, *run.best});
      values.push_back(*run.best);
      chart.tip(dots.back(),
                fmt::format("{}\nseed {}: {:.10g}", problem.groups[g], run.seed, *run.best));
    }
    if (values.empty()) continue;
    const Median median = median_of(values);
    chart.line({"", color_of(g)}, {{column - 0.38, median.value}, {column + 0.38, median.value}});
    if (median.low)
      chart.spans({"", color_of(g), true}, {{column, *median.low}}, {{column, *median.high}});
    chart.dots({problem.groups[g], color_of(g)}, dots);
  }
  chart.tips_by_point();
  chart.caption(
      "Horizontal line: median. Vertical line: 95 % interval of the median, from six runs on.");
  return chart.figure();
}

std::string curves_chart(const ComparedProblem& problem) {
  Chart chart("Best value against time", {"time [s]", true}, {problem.value_name});
  const double first = first_time(problem);
  std::size_t drawn = 0;
  for (const ComparedRun& run : problem.runs) {
    if (drawn++ == max_run_curves) break;
    std::vector<ChartPoint> steps;
    for (const IncumbentRow& row : run.incumbents) {
      steps.push_back({std::max(row.time_s, first), row.value});
    }
    if (steps.empty()) continue;
    chart.tip(steps.back(),
              fmt::format("{}\nseed {}: {:.10g} after {:.4g} s", problem.groups[run.group],
                          run.seed, steps.back().y, steps.back().x));
    chart.dots({"", color_of(run.group)}, {steps.back()});
    chart.steps({problem.groups[run.group], color_of(run.group), true}, steps,
                run_seconds(*run.files));
  }
  if (problem.has_target) chart.rule("target", problem.target);
  chart.tips_by_point();
  return chart.figure();
}

/// The fronts of runs for two objectives over each other.
std::string fronts_chart(const ComparedProblem& problem) {
  const Json& first = member_at(problem.runs.front().files->result, {"front", "objectives"});
  if (!first.is_array() || first.size() != 2 || !first[0].is_string() || !first[1].is_string()) {
    return {};
  }
  Chart chart("Fronts", {clean(first[0].get<std::string>())}, {clean(first[1].get<std::string>())});
  const std::size_t most = std::max<std::size_t>(max_front_dots / problem.runs.size(), 20);
  for (const ComparedRun& run : problem.runs) {
    const Json& points = member_at(run.files->result, {"front", "points"});
    std::vector<ChartPoint> dots;
    for (std::size_t i = 0; points.is_array() && i < std::min(points.size(), most); ++i) {
      const Json& point = points[i * points.size() / std::min(points.size(), most)];
      const bool pair = point.is_array() && point.size() == 2;
      if (!pair || !point[0].is_number() || !point[1].is_number()) continue;
      dots.push_back({point[0].get<double>(), point[1].get<double>()});
    }
    chart.dots({problem.groups[run.group], color_of(run.group), true}, dots);
  }
  return chart.figure();
}

std::string equal_settings(const ComparedProblem& problem) {
  if (problem.runs.size() == 1) return "One run only.";
  std::set<std::string> seeds;
  for (const ComparedRun& run : problem.runs) seeds.insert(run.seed);
  if (seeds.size() == problem.runs.size()) {
    return "The runs have equal settings and differ by their seeds.";
  }
  return fmt::format("The runs have equal settings. {}", seeds.size() == 1
                                                             ? "Their seed is the same, too."
                                                             : "Some of them have the same seed.");
}

std::string differences(const ComparedProblem& problem) {
  if (problem.differing.empty()) {
    return fmt::format("<p class=\"note\">{}</p>\n", equal_settings(problem));
  }
  Rows rows{{"setting"}};
  for (const std::string& group : problem.groups) rows.front().push_back(html(group));
  for (const std::string& name : problem.differing) {
    rows.push_back({html(name)});
    for (std::size_t g = 0; g < problem.groups.size(); ++g) {
      const auto run = std::ranges::find(problem.runs, g, &ComparedRun::group);
      const auto found = run->settings.find(name);
      rows.back().push_back(html(found == run->settings.end() ? "-" : found->second));
    }
  }
  return table_html(rows, rows.front().size());
}

}  // namespace

Report comparison_of(const std::vector<RunFiles>& runs, std::optional<double> target) {
  const std::vector<ComparedProblem> problems = compare(runs, target);
  Page page(fmt::format("Kiln: {} runs", runs.size()));
  std::vector<std::string> names;
  for (const ComparedProblem& problem : problems) names.push_back(problem.title);
  page.header(fmt::format("{} runs", runs.size()), html(fmt::format("{}", fmt::join(names, ", "))),
              "");
  std::string notes;
  for (const RunFiles& files : runs) {
    for (const std::string& note : files.notes) {
      notes += fmt::format("<li>{}: {}</li>\n", html(files.folder), html(note));
    }
  }
  page.section("notes", "Incomplete files",
               notes.empty() ? notes : "<ul class=\"advice\">\n" + notes + "</ul>\n");
  std::size_t room = max_report_bytes - 30'000 - std::min<std::size_t>(notes.size(), 100'000),
              number = 0;
  for (const ComparedProblem& problem : problems) {
    std::vector<std::string> figures{seeds_chart(problem), curves_chart(problem),
                                     fronts_chart(problem)};
    if (problem.has_target) figures.insert(figures.begin(), target_chart(problem));
    std::string text = table_html(group_rows(problem), 1) + figures_html(figures) +
                       "<h3>Settings that differ</h3>\n" + differences(problem) +
                       "<h3>Runs</h3>\n" + table_html(run_rows(problem), 2);
    if (text.size() > room) text = "<p class=\"note\">Too large for the report.</p>\n";
    room -= text.size();
    page.section(fmt::format("problem-{}", ++number), problem.title, text);
  }
  Report report;
  report.sections = page.sections();
  report.html = std::move(page).finish();
  return report;
}

}  // namespace kiln::cli
