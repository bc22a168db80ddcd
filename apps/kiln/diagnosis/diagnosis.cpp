// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "diagnosis/diagnosis_series.hpp"
#include "diagnosis/diagnosis_words.hpp"
#include "output/sample_text.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Diagnostics that stand in the sentences below the tables.
constexpr std::array<const char*, 15> told{"adapted",
                                           "barrier",
                                           "ladders",
                                           "log_z",
                                           "log_z_difference",
                                           "log_z_error",
                                           "round_trip_efficiency",
                                           "round_trip_rate",
                                           "round_trip_rate_of_ladder",
                                           "round_trip_rate_per_sweep",
                                           "round_trip_rate_predicted",
                                           "round_trips",
                                           "rungs",
                                           "swap_interval",
                                           "swap_phases"};

Number number_of(const nlohmann::json& value) {
  return value.is_null() ? std::nullopt : Number(value.get<double>());
}

std::string text_of(const Number& value) { return value ? fmt::format("{:.6g}", *value) : "-"; }

Number find(const Diagnosis& run, const std::string& name) {
  const auto found = run.diagnostics.find(name);
  return found == run.diagnostics.end() ? std::nullopt : found->second;
}

std::string told_of(const Diagnosis& run, const std::string& name) {
  return text_of(find(run, name));
}

// Of a ladder that ended within its burn-in the numbers are those of rungs that still moved.
bool unfinished(const Diagnosis& run) {
  return run.has_ladder() && find(run, "adapted").value_or(0) <= 0;
}

std::string sense_text(const Diagnosis& run) {
  if (run.sense.empty()) return {};
  return run.sense == option_of(Sense::maximize) ? " (maximised)" : " (minimised)";
}

std::string gaps_table(const Diagnosis& run) {
  const auto& beta = run.series.at("beta");
  const auto& acceptance = run.series.at("acceptance");
  const auto& rejection = run.series.at("rejection");
  Rows rows{{"gap", "beta", "to", "acceptance", "rejection"}};
  for (std::size_t r = 0; r + 1 < beta.size(); ++r) {
    rows.push_back({fmt::format("{} - {}", r, r + 1), text_of(beta[r]), text_of(beta[r + 1]),
                    text_of(acceptance[r]), text_of(rejection[r])});
  }
  return table_text(rows, 1);
}

// One column per series and a row per number of the longest.
std::string series_table(const std::map<std::string, std::vector<Number>>& series,
                         const std::vector<std::string>& names, const char* counter) {
  Rows rows{{counter}};
  std::size_t length = 0;
  for (const std::string& name : names) {
    rows.front().push_back(words_of(name));
    length = std::max(length, series.at(name).size());
  }
  for (std::size_t i = 0; i < length; ++i) {
    rows.push_back({std::to_string(i)});
    for (const std::string& name : names) {
      const auto& values = series.at(name);
      rows.back().push_back(i < values.size() ? text_of(values[i]) : "");
    }
  }
  return narrow_tables(rows);
}

// The batches after which there was a better value.
std::string improvements_table(const std::vector<Number>& best) {
  Rows rows{{"after batch", words_of("best_by_sweep")}};
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (i == 0 || best[i] != best[i - 1]) {
      rows.push_back({std::to_string(i + 1), text_of(best[i])});
    }
  }
  return table_text(rows, 1);
}

std::string lengths_table(const Diagnosis& run) {
  Rows rows{{"variable", "length scale"}};
  for (const auto& [name, length] : run.lengths) rows.push_back({clean(name), text_of(length)});
  return "length scales of the model, as fractions of the range of each variable;\n"
         "variables with short length scales influence the value most\n" +
         table_text(rows, 1);
}

std::string remaining_text(const Diagnosis& run) {
  std::string text;
  Rows rows;
  for (const auto& [name, value] : run.diagnostics) {
    const bool is_told = std::ranges::find(told, name) != told.end();
    if (!run.has_ladder() || !is_told) rows.push_back({words_of(name), text_of(value)});
  }
  if (!rows.empty()) text += "\n" + table_text(rows);
  auto series = remaining_series(run);
  if (const auto best = series.find("best_by_sweep"); best != series.end()) {
    text += "\n" + improvements_table(best->second);
    series.erase(best);
  }
  if (!run.lengths.empty()) {
    text += "\n" + lengths_table(run);
    series.erase("model_lengths");
  }
  std::vector<std::string> names;
  for (const auto& [name, values] : series) names.push_back(name);
  if (!names.empty()) text += "\n" + series_table(series, names, "number");
  return text;
}

std::string round_trips_text(const Diagnosis& run) {
  std::string text =
      fmt::format("round trips  {} in {} ladders and {} swap phases\n", told_of(run, "round_trips"),
                  told_of(run, "ladders"), told_of(run, "swap_phases"));
  if (find(run, "round_trip_rate")) {
    text += fmt::format("{:13}measured rate per ladder: {} per phase, {} per sweep\n", "",
                        told_of(run, "round_trip_rate"), told_of(run, "round_trip_rate_per_sweep"));
  }
  if (find(run, "round_trip_rate_predicted")) {
    text += fmt::format(
        "{:13}predicted rate: {} = 1 / (2 + 2 Lambda) for many rungs, {} for this ladder\n", "",
        told_of(run, "round_trip_rate_predicted"), told_of(run, "round_trip_rate_of_ladder"));
  }
  if (const Number share = find(run, "round_trip_efficiency")) {
    text += fmt::format("{:13}measured / predicted = {}\n", "", text_of(share));
  }
  return text;
}

// The error is that of log Z itself where the run knows it.
std::string log_z_text(const Diagnosis& run) {
  if (!find(run, "log_z_difference")) return {};
  if (unfinished(run)) {
    return "log Z        not shown: the run ended within its burn-in, while rungs still moved\n";
  }
  const Number error = find(run, "log_z_error");
  const std::string band = error ? " +- " + text_of(error) : "";
  const bool absolute = find(run, "log_z").has_value();
  std::string text = fmt::format("log Z        {}{} at the last rung, relative to the first rung\n",
                                 told_of(run, "log_z_difference"), absolute ? "" : band);
  if (absolute) {
    text +=
        fmt::format("{:13}{}{} absolute log Z at the last rung\n", "", told_of(run, "log_z"), band);
  }
  return text;
}

std::string ladder_text(const Diagnosis& run) {
  const std::size_t rungs = rungs_of(run);
  std::string text;
  if (rungs > 1) text += "\n" + gaps_table(run);
  std::vector<std::string> columns = columns_of_rungs(run);
  if (unfinished(run)) std::erase(columns, "log_z");
  text += "\n" + series_table(run.series, columns, "rung") + "\n";
  text += fmt::format("burn-in      {}; sweeps between swap phases: {}\n",
                      unfinished(run) ? "not ended" : "ended, and the ladder is fixed",
                      told_of(run, "swap_interval"));
  text += fmt::format("barrier      Lambda = {} over {} gaps between rungs",
                      told_of(run, "barrier"), rungs - 1);
  if (const Number barrier = find(run, "barrier")) {
    text += fmt::format("\n{:13}2 Lambda + 1 = {:.0f} rungs suffice; this ladder has {} rungs", "",
                        std::ceil(2 * *barrier + 1), rungs);
  }
  text += "\n" + round_trips_text(run);
  return text + log_z_text(run);
}

std::string end_of(const Diagnosis& run) {
  if (run.judges_draws && run.stop == "converged") return "conditions met";
  if (run.judges_draws && run.stop == "sweep_limit") return "all draws made";
  if (run.stop == "sweep_limit") {
    return limit_name(run.diagnostics.contains(records_evaluations), run.step);
  }
  if (run.stop != "converged") return words_of(run.stop);
  const bool most = run.sense == option_of(Sense::maximize);
  const Number bound = find(run, bound_name(most));
  const bool known = bound.has_value() && run.best.has_value();
  return end_of_search(run.value_name, known && (most ? *run.best >= *bound : *run.best <= *bound));
}

}  // namespace

Diagnosis diagnosis_of(const nlohmann::json& result, const std::string& source) {
  Diagnosis run;
  run.source = source;
  run.problem = clean(result.at("problem").at("name").get<std::string>());
  run.schedule = clean(result.at("schedule").at("name").get<std::string>());
  run.step = clean(result.at("schedule").value("step", run.step));
  run.stop = clean(result.at("stop").get<std::string>());
  run.judges_draws = result.contains("until");
  run.seed = result.at("seed").get<std::uint64_t>();
  const auto& objective = result.at("objective");
  run.best = number_of(objective.at("best"));
  run.value_name = clean(objective.value("name", "best"));
  run.sense = clean(objective.value("sense", ""));
  run.sweeps = result.at("work").at("sweeps").get<std::int64_t>();
  run.replicas = result.at("work").at("replicas").get<std::int64_t>();
  // A document of another program, or of an earlier version, may be without them.
  const auto of = [&](const char* part, const char* name) {
    const auto place = nlohmann::json::json_pointer(fmt::format("/{}/{}", part, name));
    return result.contains(place) && result[place].is_number() ? result[place].get<double>() : 0.0;
  };
  run.attempts = of("work", "attempts");
  run.accepted = of("work", "accepted");
  run.run_s = of("time", "run_s");
  run.to_best_s = of("time", "to_best_s");
  for (const auto& [name, value] : result.at("diagnostics").items()) {
    run.diagnostics[clean(name)] = number_of(value);
  }
  for (const auto& [name, values] : result.at("series").items()) {
    auto& numbers = run.series[clean(name)];
    for (const auto& value : values) numbers.push_back(number_of(value));
  }
  if (result.contains("model")) {
    for (const auto& [name, length] : result.at("model").at("lengths").items()) {
      run.lengths.emplace_back(clean(name), number_of(length));
    }
  }
  run.chosen = chosen_member_text(result);
  for (const auto& sentence : result.at("advice")) {
    run.advice.push_back(clean(sentence.get<std::string>()));
  }
  if (result.contains("sample")) {
    run.sample = result.at("sample");
    run.summary = result.at("summary");
    run.draws = "\n" + sample_text(result, false);
  }
  return run;
}

namespace {

// "50 sweeps of 128 replicas", or what was asked for where each evaluation is expensive.
std::string work_of(const Diagnosis& run) {
  const Number evaluations = find(run, "evaluations");
  if (evaluations && run.diagnostics.contains(records_evaluations))
    return fmt::format("{:.0f} evaluations", *evaluations);
  return fmt::format("{} {}s of {} replicas", run.sweeps, run.step, run.replicas);
}

// A sampler's work is its draws; its least energy is minus the log density there.
std::string outcome_of(const Diagnosis& run) {
  const bool minus = !run.draws.empty() && run.sense != option_of(Sense::maximize);
  const std::string best = run.best ? human_value(minus ? -*run.best : *run.best, false) : "-";
  if (run.draws.empty())
    return fmt::format("{} after {}, {} {}{}\n", end_of(run), work_of(run), run.value_name, best,
                       sense_text(run));
  return fmt::format("{}: {}\nbest log density {}\n", end_of(run), draws_text(run.sample), best);
}

// What every search says: when it found the best, and what it spent.
std::string search_text(const Diagnosis& run) {
  if (!run.best || run.attempts == 0) return {};
  std::string text = fmt::format("found        after {} of {}", human_seconds(run.to_best_s),
                                 human_seconds(run.run_s));
  if (run.run_s > 1 && run.to_best_s > 0.9 * run.run_s) {
    text += "; late in the run: a longer run may find a better value";
  }
  return text + fmt::format("\nwork         {} attempted moves, {:.2g} % of them accepted\n",
                            human_count(run.attempts), 100 * run.accepted / run.attempts);
}

}  // namespace

std::string diagnosis_text(const Diagnosis& run) {
  std::string text =
      fmt::format("{} on {}, seed {}:\n{}", run.schedule, run.problem, run.seed, outcome_of(run));
  const bool warns_first = unfinished(run);
  if (warns_first) text += advice_text(run.advice);
  text += run.chosen + run.draws;
  if (run.has_ladder()) text += ladder_text(run);
  const std::string rest = remaining_text(run);
  text += rest;
  if (run.draws.empty() && !run.has_ladder() && rest.empty()) {
    text += search_text(run);
    text += fmt::format("{} reports no diagnostics and no series\n", run.schedule);
  }
  return warns_first ? text : text + advice_text(run.advice);
}

}  // namespace kiln::cli
