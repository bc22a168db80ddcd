// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "output/text.hpp"
#include "report/sections.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::json;

// Options that change no answer; the seed, by which the runs of a group differ; and the sense,
// which belongs to the problem.
const std::set<std::string>& passed_over() {
  static const std::set<std::string> names{
      "seed",          "output",    "quiet",   "verbose",   "json",
      "config",        "repeat",    "save",    "dry-run",   "help",
      "csv",           "top",       "metrics", "no-report", "report-interval",
      "allow-command", "supervise", "sense",   "minimize",  "maximize"};
  return names;
}

std::string text_of(const Json& setting) {
  const Json& value = member_at(setting, {"value"});
  return value.is_boolean() ? "on" : text_at(setting, {"value"}).value_or("?");
}

std::map<std::string, std::string> settings_of(const RunFiles& files) {
  std::map<std::string, std::string> settings;
  const Json& options = member_at(files.run, {"options"});
  for (const auto& [name, setting] : options.items()) {
    if (!passed_over().contains(name)) settings["--" + name] = text_of(setting);
  }
  const Json& given = member_at(files.run, {"schedule", "given"});
  for (const auto& [name, setting] : given.items()) settings["-p " + name] = text_of(setting);
  settings["schedule"] = text_at(files.run, {"schedule", "name"}).value_or("?");
  settings.erase("--schedule");
  settings["device"] = text_at(files.run, {"device", "name"}).value_or("?");
  settings.erase("--device");
  settings["Kiln"] = text_at(files.run, {"kiln"}).value_or("?");
  return settings;
}

constexpr const char* fingerprint_word = "fingerprint";
constexpr std::size_t few_digits = 8;

// The source is left out: a file is the same from wherever it was read. Graphs whose edges are the
// same have one fingerprint, so that sizes count, too.
std::map<std::string, std::string> identity_of(const RunFiles& files) {
  std::map<std::string, std::string> identity;
  identity["family"] = text_at(files.run, {"problem", "family"}).value_or("?");
  identity[fingerprint_word] = text_at(files.run, {"problem", "fingerprint"}).value_or("none");
  identity["value"] = value_name_of(files);
  identity["sense"] = is_maximized(files) ? "maximised" : "minimised";
  const Json& sizes = member_at(files.run, {"problem", "sizes"});
  for (const auto& [name, size] : sizes.items()) {
    identity.emplace(clean(name), text_at(sizes, {name.c_str()}).value_or(size.dump()));
  }
  return identity;
}

std::string identity_at(const ComparedProblem& problem, const std::string& name) {
  const auto found = problem.identity.find(name);
  return found == problem.identity.end() ? "-" : found->second;
}

/// As many digits of a fingerprint as tell it from those of the other problems.
std::string digits_of(const std::string& fingerprint,
                      const std::vector<const ComparedProblem*>& others) {
  std::size_t digits = few_digits;
  for (const ComparedProblem* const other : others) {
    const std::string theirs = identity_at(*other, fingerprint_word);
    if (theirs == fingerprint) continue;
    const auto differ = std::ranges::mismatch(fingerprint, theirs).in1 - fingerprint.begin();
    digits = std::max(digits, static_cast<std::size_t>(differ) + 1);
  }
  return fingerprint.substr(0, digits);
}

std::string title_of(const ComparedProblem& problem, const std::vector<ComparedProblem>& all) {
  std::vector<const ComparedProblem*> others;
  std::set<std::string> names;
  for (const ComparedProblem& other : all) {
    if (other.name != problem.name) continue;
    others.push_back(&other);
    for (const auto& [name, value] : other.identity) names.insert(name);
  }
  std::string marks;
  for (const std::string& name : names) {
    const std::string value = identity_at(problem, name);
    const auto same = [&](const ComparedProblem* other) {
      return identity_at(*other, name) == value;
    };
    if (std::ranges::all_of(others, same)) continue;
    marks += marks.empty() ? "" : ", ";
    if (name == fingerprint_word) {
      marks += fmt::format("{} {}", name, digits_of(value, others));
    } else {
      marks += name == "sense" ? value : fmt::format("{} {}", name, value);
    }
  }
  return marks.empty() ? problem.name : fmt::format("{} ({})", problem.name, marks);
}

std::string setting_of(const ComparedRun& run, const std::string& name) {
  const auto found = run.settings.find(name);
  return found == run.settings.end() ? "-" : found->second;
}

std::vector<std::string> differing_in(const std::vector<ComparedRun>& runs) {
  std::set<std::string> names, differing;
  for (const ComparedRun& run : runs) {
    for (const auto& [name, value] : run.settings) names.insert(name);
  }
  for (const std::string& name : names) {
    for (const ComparedRun& run : runs) {
      if (setting_of(run, name) != setting_of(runs.front(), name)) differing.insert(name);
    }
  }
  return {differing.begin(), differing.end()};
}

void form_groups(ComparedProblem& problem) {
  problem.differing = differing_in(problem.runs);
  std::map<std::vector<std::string>, std::size_t> known;
  for (ComparedRun& run : problem.runs) {
    std::vector<std::string> key;
    std::string label;
    for (const std::string& name : problem.differing) {
      key.push_back(setting_of(run, name));
      const bool plain = name == "schedule" || name == "device";
      label += fmt::format("{}{}", label.empty() ? "" : ", ",
                           plain ? key.back() : fmt::format("{} {}", name, key.back()));
    }
    if (label.empty()) label = setting_of(run, "schedule");
    const auto [at, fresh] = known.emplace(key, known.size());
    if (fresh) problem.groups.push_back(label);
    run.group = at->second;
  }
}

void choose_target(ComparedProblem& problem, std::optional<double> target) {
  problem.has_target = true;
  if (target) {
    problem.target = *target;
    problem.target_origin = "given";
    return;
  }
  const auto first = number_at(problem.runs.front().files->run, {"target"});
  const auto same = [&](const ComparedRun& run) {
    return number_at(run.files->run, {"target"}) == first;
  };
  if (first && std::ranges::all_of(problem.runs, same)) {
    problem.target = *first;
    problem.target_origin = "target of the runs";
    return;
  }
  std::optional<double> best;
  for (const ComparedRun& run : problem.runs) {
    if (const auto known = number_at(run.files->result, {"objective", "best_known"})) {
      problem.target = *known;
      problem.target_origin = "best known value";
      return;
    }
    const bool better =
        run.best && (!best || (problem.maximized ? *run.best > *best : *run.best < *best));
    if (better) best = run.best;
  }
  problem.has_target = best.has_value();
  problem.target = best.value_or(0);
  problem.target_origin = "best value of these runs";
}

// What a run traces may be another value than that of its result, which is then known at the end.
std::vector<IncumbentRow> incumbents_of(const RunFiles& files) {
  if (traced_value_of(files).of_result) return files.incumbents;
  const auto best = number_at(files.result, {"objective", "best"});
  if (!best) return {};
  return {{run_seconds(files), number_at(files.result, {"work", "sweeps"}).value_or(0), *best}};
}

std::optional<double> hit_time(const std::vector<IncumbentRow>& incumbents, double target,
                               bool maximized) {
  const double tolerance = 1e-9 * std::abs(target);  // decimal texts of the same number
  for (const IncumbentRow& row : incumbents) {
    const double behind = maximized ? target - row.value : row.value - target;
    if (behind <= tolerance) return row.time_s;
  }
  return std::nullopt;
}

}  // namespace

std::vector<ComparedProblem> compare(const std::vector<RunFiles>& runs,
                                     std::optional<double> target) {
  std::vector<ComparedProblem> problems;
  for (const RunFiles& files : runs) {
    ComparedRun run;
    run.files = &files;
    run.problem = text_at(files.run, {"problem", "name"}).value_or("?");
    const Json& seed = member_at(files.run, {"seed"});
    run.seed = seed.is_number() ? seed.dump() : "-";
    run.best = number_at(files.result, {"objective", "best"});
    run.incumbents = incumbents_of(files);
    if (!run.best && !run.incumbents.empty()) run.best = run.incumbents.back().value;
    run.settings = settings_of(files);
    const std::map<std::string, std::string> identity = identity_of(files);
    auto at = std::ranges::find_if(problems, [&](const ComparedProblem& problem) {
      return problem.name == run.problem && problem.identity == identity;
    });
    if (at == problems.end()) {
      ComparedProblem& fresh = problems.emplace_back();
      fresh.name = run.problem;
      fresh.identity = identity;
      fresh.value_name = value_name_of(files);
      fresh.maximized = is_maximized(files);
      at = problems.end() - 1;
    }
    at->runs.push_back(std::move(run));
  }
  for (ComparedProblem& problem : problems) {
    problem.title = title_of(problem, problems);
    form_groups(problem);
    choose_target(problem, target);
    for (ComparedRun& run : problem.runs) {
      if (problem.has_target)
        run.hit_s = hit_time(run.incumbents, problem.target, problem.maximized);
    }
  }
  return problems;
}

Median median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  const double upper = values[n / 2], lower = values[(n - 1) / 2];
  Median median;
  median.value = upper == lower ? upper : lower / 2 + upper / 2;
  // P(fewer than k of n are below the median) for a binomial with one half.
  double term = std::pow(0.5, static_cast<double>(n)), below = 0;
  std::size_t k = 0;
  while (k < n / 2 && below + term <= 0.025) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  if (k == 0) return median;
  median.low = values[k - 1];
  median.high = values[n - k];
  return median;
}

}  // namespace kiln::cli
