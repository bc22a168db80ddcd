// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "kiln/errors.hpp"
#include "kiln/problems/table.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"

#include "bench/bayes_cases.hpp"
#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Texts = std::map<std::string, std::string>;

constexpr std::int64_t cpu_studies = 4;  // of one run: so that a time limit can end a row

enum class Statistic : std::uint8_t { median, median_gap, worst, mean };

/// What the best values of all studies must reach after some evaluations.
struct Goal {
  Statistic statistic = Statistic::median;
  double limit = 0;
  bool at_least = false;
  std::int64_t after = 0;  ///< 0: all
};

/// A problem, and how it is searched. An empty instance: the table of --data.
struct Search {
  std::string name, instance;
  std::int64_t evaluations = 0, batch = 1, studies = 20;
  Texts options = {};
  std::vector<Goal> goals = {};
};

/// The best values of all studies by evaluations.
using BestValues = std::map<std::int64_t, std::vector<double>>;

const std::vector<Search>& all_searches() {
  using enum Statistic;
  static const std::vector<Search> all{
      {"branin", "function:branin", 30, 1, 20, {}, {{median_gap, 1e-4}}},
      {"hartmann6",
       "function:hartmann6",
       60,
       1,
       20,
       {{"initial", "10"}},
       {{median, -3.25}, {worst, -3.10}}},
      {"ackley-20, trust region",
       "function:ackley-20,-5,10",
       464,
       4,
       20,
       {{"trust_regions", "1"}},
       {{median, 1.5}}},
      {"branin hidden in 30 dimensions",
       "function:branin-hidden-30",
       60,
       1,
       20,
       {},
       {{median, 0.41}}},
      {"direct arylation", "", 50, 5, 50, {}, {{mean, 94, true, 25}, {mean, 99, true, 50}}}};
  return all;
}

const char* word_of(Statistic statistic) {
  switch (statistic) {
    case Statistic::median:
      return "median";
    case Statistic::median_gap:
      return "median gap";
    case Statistic::worst:
      return "worst";
    case Statistic::mean:
      return "mean";
  }
  return "";
}

double value_of(Statistic statistic, const std::vector<double>& values, const Problem& problem) {
  const Spread spread = spread_of(values);
  switch (statistic) {
    case Statistic::median:
      return spread.median;
    case Statistic::median_gap:
      return std::abs(spread.median - problem.known.best.value());
    case Statistic::worst:
      return problem.units.sense == Sense::maximize ? spread.min : spread.max;
    case Statistic::mean:
      break;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Problem problem_of(const BenchRun& run, const Search& which) {
  if (!which.instance.empty()) return make_instance(which.instance);
  return problems::table_by_name(run.options.data,
                                 {{"objective", {"yield"}}, {"ignore", {"entry"}}});
}

/// Replicas of a study are side by side.
std::vector<double> best_of_studies(Run& run, const Problem& problem, std::int64_t batch) {
  const std::vector<double>& stored = ReportContext(run.core()).best_energies();
  std::vector<double> best;
  for (std::size_t first = 0; first < stored.size(); first += static_cast<std::size_t>(batch)) {
    const auto begin = stored.begin() + static_cast<std::ptrdiff_t>(first);
    const double least = *std::min_element(begin, begin + batch);
    if (!std::isfinite(least)) {
      throw ObjectiveError("result.infeasible",
                           problem.identity.name + ": a study saw no value at all");
    }
    best.push_back(problem.units.objective_of_stored(least));
  }
  return best;
}

/// One run of some studies.
/// @return its seconds.
double search(const BenchRun& bench, const Search& which, const Problem& problem,
              std::int64_t studies, std::uint64_t seed, BestValues& best) {
  static const Registry registry = builtin_registry();
  Texts texts = which.options;
  for (const auto& [name, text] : bench.options.parameters) texts[name] = text;
  texts["batch"] = std::to_string(which.batch);
  texts["studies"] = std::to_string(studies);
  texts["evaluations"] = std::to_string(which.evaluations);
  const auto schedule = registry.schedule("bayesian-optimization").make(texts);
  std::vector<std::int64_t> looks{which.evaluations};
  for (const Goal& goal : which.goals) {
    if (goal.after > 0 && goal.after < which.evaluations) looks.push_back(goal.after);
  }
  std::ranges::sort(looks);
  RunOptions options;
  options.device = bench.backend.backend->info().name;
  options.threads = bench.options.threads;
  options.seed = seed;
  Run run(problem, *schedule, {.sweeps = which.evaluations / which.batch}, options, bench.backend);
  double seconds = 0;
  for (const std::int64_t evaluations : looks) {
    const Result result = run.advance_to({.sweeps = evaluations / which.batch});
    require_verified(result);
    seconds = result.time.run_s;
    const std::vector<double> now = best_of_studies(run, problem, which.batch);
    std::vector<double>& all = best[evaluations];
    all.insert(all.end(), now.begin(), now.end());
  }
  return seconds;
}

std::vector<BayesGate> judged(const Search& which, const BestValues& best, const Problem& problem) {
  std::vector<BayesGate> gates;
  for (const Goal& goal : which.goals) {
    const std::int64_t after = goal.after > 0 ? goal.after : which.evaluations;
    std::string what = word_of(goal.statistic);
    if (goal.after > 0) what += fmt::format(" after {} evaluations", after);
    gates.push_back(
        {what, goal.limit, goal.at_least, value_of(goal.statistic, best.at(after), problem)});
  }
  return gates;
}

BayesRow measure(const BenchRun& bench, const Search& asked, double limit_s) {
  const Problem problem = problem_of(bench, asked);
  Search which = asked;
  if (bench.options.sweeps) {
    which.evaluations = *bench.options.sweeps * which.batch;
    std::erase_if(which.goals, [&](const Goal& goal) {
      return goal.after == 0 || goal.after > which.evaluations;
    });
  }
  const std::int64_t studies = bench.options.quick ? 2 : which.studies;
  const std::int64_t of_a_run = bench.on_cpu() ? std::min(studies, cpu_studies) : studies;
  BayesRow row;
  row.instance = problem.identity.name;
  row.dimension = problem.objective->space().variables();
  row.evaluations = which.evaluations;
  row.batch = which.batch;
  row.studies = 0;
  BestValues best;
  const auto begin = Clock::now();
  std::uint64_t seed = 0;
  do {
    const std::int64_t now = std::min(of_a_run, studies - row.studies);
    const double seconds = search(bench, which, problem, now, ++seed, best);
    const auto iterations = static_cast<double>(now * (which.evaluations / which.batch));
    row.milliseconds.push_back(1e3 * seconds / iterations);
    row.studies += now;
  } while (row.studies < studies &&
           std::chrono::duration<double>(Clock::now() - begin).count() < limit_s);
  row.values = best.at(which.evaluations);
  row.gates = judged(which, best, problem);
  return row;
}

}  // namespace

std::vector<BayesCase> bayes_quality_cases() {
  std::vector<BayesCase> cases;
  for (const Search& one : all_searches()) {
    cases.push_back(
        {one.name,
         [&one](const BenchRun& run, double limit_s) { return measure(run, one, limit_s); },
         one.instance.empty()});
  }
  return cases;
}

}  // namespace kiln::cli
