// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench sweep: whole annealing runs through the engine.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "kiln/engine.hpp"
#include "kiln/registry.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int max_repetitions = 5;
constexpr std::uint64_t seed = 1;

/// An instance on a device with a number of threads.
struct SweepCase {
  std::string instance;
  int threads = 0;  ///< 0 on a GPU
};

std::vector<SweepCase> selected_cases(const BenchRun& run) {
  std::vector<int> threads{0};
  if (run.on_cpu()) {
    threads = {run.backend.backend->info().parallel_units};
    if (run.options.threads == 0 && threads.front() > 1) threads.insert(threads.begin(), 1);
  }
  std::vector<SweepCase> cases;
  for (const char* name : sweep_instances) {
    if (!run.wants(name)) continue;
    for (const int n : threads) cases.push_back({name, n});
    if (run.options.quick) break;
  }
  if (cases.empty())
    refuse_empty_selection(run.options, {sweep_instances.begin(), sweep_instances.end()});
  return cases;
}

struct Measured {
  SweepCase which;
  std::string backend;
  Result result;  ///< of the last run; all are alike but for their times
  Spread run_s;
  std::int64_t variables = 0, couplings = 0;

  Spread attempts_per_ns() const { return rate_of(result.work.attempts * 1e-9, run_s); }
};

// Enough for a tenth of a second at least; complete models take the CPU a hundred times as long.
std::int64_t default_sweeps(bool cpu, const Problem& problem) {
  if (!cpu) return 1000;
  return coupling_count(problem) > 1'000'000 ? 40 : 200;
}

Measured measure(const BenchRun& run, const SweepCase& which, const Problem& problem,
                 double limit_s) {
  RunOptions options;
  options.device = run.backend.backend->info().name;
  options.threads = which.threads;
  options.seed = seed;
  Engine engine(options);
  const Registry registry = builtin_registry();
  const ScheduleEntry& annealing = registry.schedule("simulated-annealing");
  const auto one_run = [&](std::int64_t sweeps) {
    const auto schedule = annealing.make({});
    Result result = engine.run(problem, *schedule, {.sweeps = sweeps});
    require_verified(result);
    return result;
  };
  one_run(4);  // loads code and wakes the device
  const std::int64_t sweeps = run.options.sweeps.value_or(default_sweeps(run.on_cpu(), problem));
  Measured measured{which, run.on_cpu() ? "cpu" : "cuda", {}, {}};
  std::vector<double> seconds;
  const auto begin = Clock::now();
  do {
    measured.result = one_run(sweeps);
    seconds.push_back(measured.result.time.run_s);
  } while (seconds.size() < max_repetitions &&
           std::chrono::duration<double>(Clock::now() - begin).count() < limit_s);
  measured.run_s = spread_of(seconds);
  measured.variables = problem.objective->space().variables();
  measured.couplings = coupling_count(problem);
  return measured;
}

Json json_of(const Measured& row) {
  Json json = {{"instance", row.which.instance},
               {"backend", row.backend},
               {"kernel", "metropolis_sweep"},
               {"threads", row.which.threads > 0 ? Json(row.which.threads) : Json(nullptr)}};
  json.update(Json{{"n", row.variables}, {"m", row.couplings}});
  const Spread rate = row.attempts_per_ns();
  json.update(Json{{"attempts_per_ns", rate.median},
                   {"attempts_per_ns_spread", json_of(rate)},
                   {"replicas", row.result.work.replicas},
                   {"sweeps", row.result.work.sweeps},
                   {"seconds", row.run_s.median},
                   {"seed", seed}});
  return json;
}

std::vector<std::string> cells_of(const Measured& row) {
  const Spread rate = row.attempts_per_ns();
  return {row.which.instance,
          std::to_string(row.variables),
          std::to_string(row.couplings),
          row.which.threads > 0 ? fmt::format("{} thr", row.which.threads) : row.backend,
          fmt::format("{}", row.result.work.replicas),
          fmt::format("{}", row.result.work.sweeps),
          three_digits(row.run_s.median),
          three_digits(rate.median),
          three_digits(rate.min) + " .. " + three_digits(rate.max)};
}

}  // namespace

BenchReport run_sweep_suite(const BenchRun& run) {
  const std::vector<SweepCase> cases = selected_cases(run);
  const double limit_s = run.options.time_limit_s / static_cast<double>(cases.size());
  BenchReport report;
  report.facts = {{"method", "run"},
                  {"method_text",
                   "whole runs of simulated annealing with default options, by the steady clock, "
                   "without set-up"}};
  report.table = {
      {"instance", "n", "m", "device", "replicas", "sweeps", "s", "attempts/ns", "range"}};
  std::string made;
  Problem problem;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    run.progress.update(i, cases.size(), cases[i].instance, report);
    report.measure(cases[i].instance, [&] {
      if (made != cases[i].instance) problem = make_instance(cases[i].instance);
      made = cases[i].instance;
      const Measured row = measure(run, cases[i], problem, limit_s);
      report.rows.push_back(json_of(row));
      report.table.push_back(cells_of(row));
    });
  }
  return report;
}

}  // namespace kiln::cli
