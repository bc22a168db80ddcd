// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench time-to-target: how long default runs take to the best known value, seed by seed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "kiln/engine.hpp"
#include "kiln/registry.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TargetCase {
  const char* instance;
  const char* schedule;  ///< null: the default of the problem
};
constexpr const char* tempering = "parallel-tempering";
constexpr const char* annealing = "simulated-annealing";
constexpr const char* bifurcation = "simulated-bifurcation";
constexpr std::array<TargetCase, 20> cases{{{"gset:G1", tempering},
                                            {"gset:G43", tempering},
                                            {"gset:G11", tempering},
                                            {"gset:G22", tempering},
                                            {"gset:G32", tempering},
                                            {"gset:G14", tempering},
                                            {"palubeckis:p3000.1", annealing},
                                            {"palubeckis:p3000.2", annealing},
                                            {"palubeckis:p3000.3", annealing},
                                            {"palubeckis:p3000.4", annealing},
                                            {"palubeckis:p3000.5", annealing},
                                            {"coloring:queen9,10", nullptr},
                                            {"coloring:250,50,29,1", nullptr},
                                            {"k2000", bifurcation},
                                            {"palubeckis:p3000.1", bifurcation},
                                            {"palubeckis:p3000.2", bifurcation},
                                            {"palubeckis:p3000.3", bifurcation},
                                            {"palubeckis:p3000.4", bifurcation},
                                            {"palubeckis:p3000.5", bifurcation},
                                            {"gset:G22", bifurcation}}};
constexpr int n_seeds = 20;
constexpr int n_seeds_quick = 2;

/// One run: the times of Result::time, and the integral of the gap over the time of the run.
struct Seed {
  bool reached = false;
  double setup_s = 0, run_s = 0, gap_seconds = 0;
};

struct Measured {
  const char* instance;
  std::string schedule, backend;
  int threads = 0;         ///< 0 on a GPU
  bool best_known = true;  ///< whether that is the target, else the bound
  double target = 0, limit_s = 0;
  std::int64_t replicas = 0;
  std::vector<Seed> seeds;

  std::int64_t reached() const { return std::ranges::count(seeds, true, &Seed::reached); }
  std::vector<double> values(double Seed::*member) const {
    std::vector<double> all;
    for (const Seed& seed : seeds) all.push_back(seed.*member);
    return all;
  }
  /// Sorted times to the target; a run that missed it counts as longer than any other.
  std::optional<double> median_s() const {
    return rank_s((seeds.size() - 1) / 2, seeds.size() / 2);
  }
  std::optional<double> slowest_s() const { return rank_s(seeds.size() - 1, seeds.size() - 1); }

 private:
  std::optional<double> rank_s(std::size_t low, std::size_t high) const {
    std::vector<double> times;
    for (const Seed& seed : seeds) {
      if (seed.reached) times.push_back(seed.run_s);
    }
    std::ranges::sort(times);
    if (high >= times.size()) return std::nullopt;
    return (times[low] + times[high]) / 2;
  }
};

/// The gap that Berthold's primal integral sums: 1 without a value, 0 at the target.
/// @par Source  Berthold, Operations Research Letters 41 (2013) 611.
double primal_gap(const std::optional<double>& best, double target) {
  if (!best) return 1;
  if (*best == target) return 0;
  if (*best * target < 0) return 1;
  return std::abs(*best - target) / std::max(std::abs(*best), std::abs(target));
}

Seed run_seed(Engine& engine, const Problem& problem, Schedule& schedule, const Budget& budget) {
  Seed seed;
  std::optional<double> best;
  double since_s = 0;
  // Between two report points the best value of the first of them holds.
  const auto advance_to = [&](double time_s) {
    seed.gap_seconds += primal_gap(best, *budget.target) * std::max(0.0, time_s - since_s);
    since_s = time_s;
  };
  const Observers observers{[&](const ReportPoint& point) {
    advance_to(point.time_s);
    if (point.has_best) best = point.best;
    return Next::go_on;
  }};
  const Result result = engine.run(problem, schedule, budget, observers);
  require_verified(result);
  advance_to(result.time.run_s);
  seed.reached = !result.misses_target();
  seed.setup_s = result.time.setup_s;
  seed.run_s = result.time.run_s;
  return seed;
}

Measured measure(const BenchRun& run, const TargetCase& which, double limit_s) {
  const DeviceInfo info = run.backend.backend->info();
  const Problem problem = make_instance(which.instance);
  const Registry registry = builtin_registry();
  const ScheduleEntry& entry = registry.schedule(
      which.schedule != nullptr ? which.schedule : registry.default_schedule(problem));
  const KnownValues& known = problem.known;
  RunOptions options;
  options.device = info.name;
  options.threads = run.on_cpu() ? info.parallel_units : 0;
  options.report_interval_s = 0.001;
  const int seeds = run.options.quick ? n_seeds_quick : n_seeds;
  Measured row{which.instance,
               entry.name,
               run.on_cpu() ? "cpu" : "cuda",
               options.threads,
               known.best.has_value(),
               known.best ? *known.best : known.bound.value(),
               limit_s / seeds,
               0,
               {}};
  const Budget budget{.time_limit_s = row.limit_s, .target = row.target};
  // Opens the device and loads code; every run after it finds both.
  row.replicas = Engine(options).run(problem, *entry.make({}), {.sweeps = 1}).work.replicas;
  for (int seed = 1; seed <= seeds; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed);
    Engine engine(options);
    row.seeds.push_back(run_seed(engine, problem, *entry.make({}), budget));
  }
  return row;
}

std::string command_of(const Measured& row) {
  return fmt::format(
      "kiln solve {} --schedule {} --device {}{} --target {} --time-limit {:.3g}s --seed N",
      row.instance, row.schedule, row.backend,
      row.threads > 0 ? fmt::format(" --threads {}", row.threads) : "",
      row.best_known ? "best-known" : fmt::format("{}", row.target), row.limit_s);
}

Json number_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const Measured& row) {
  Json json = {{"instance", row.instance},
               {"schedule", row.schedule},
               {"backend", row.backend},
               {"threads", row.threads > 0 ? Json(row.threads) : Json(nullptr)},
               {"replicas", row.replicas},
               {"target", row.target},
               {"limit_s", row.limit_s},
               {"command", command_of(row)},
               {"seeds", row.seeds.size()},
               {"reached", row.reached()},
               {"median_s", number_or_null(row.median_s())},
               {"slowest_s", number_or_null(row.slowest_s())}};
  json["run_s"] = row.values(&Seed::run_s);
  json["setup_s_spread"] = json_of(spread_of(row.values(&Seed::setup_s)));
  json["primal_integral_s_spread"] = json_of(spread_of(row.values(&Seed::gap_seconds)));
  return json;
}

std::string cell_of(const std::optional<double>& seconds) {
  return seconds ? three_digits(*seconds) : "-";
}

std::vector<std::string> cells_of(const Measured& row) {
  return {row.instance,
          row.schedule,
          row.threads > 0 ? fmt::format("{} thr", row.threads) : row.backend,
          fmt::format("{}", row.target),
          fmt::format("{} of {}", row.reached(), row.seeds.size()),
          cell_of(row.median_s()),
          cell_of(row.slowest_s()),
          three_digits(row.limit_s),
          three_digits(spread_of(row.values(&Seed::setup_s)).median),
          three_digits(spread_of(row.values(&Seed::gap_seconds)).median)};
}

}  // namespace

BenchReport run_target_suite(const BenchRun& run) {
  const auto wanted = wanted_rows(run, cases, [](const TargetCase& one) { return one.instance; });
  const double limit_s = run.options.time_limit_s / static_cast<double>(wanted.size());
  BenchReport report;
  report.facts = {
      {"method", "run"},
      {"method_text",
       "whole runs with default options to the best known value, by the steady clock, without "
       "set-up, seeds 1, 2, ... in one process that has opened the device before"}};
  report.table = {{"instance", "schedule", "device", "target", "reached", "median s", "slowest s",
                   "limit s", "set-up s", "primal integral s"}};
  report.first_number = 3;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    run.progress.update(i, wanted.size(), wanted[i]->instance, report);
    report.measure(wanted[i]->instance, [&] {
      const Measured row = measure(run, *wanted[i], limit_s);
      if (report.notes.empty()) report.notes.push_back("first row: " + command_of(row));
      report.rows.push_back(json_of(row));
      report.table.push_back(cells_of(row));
    });
  }
  return report;
}

}  // namespace kiln::cli
