// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench targets: the figures that Kiln was first asked for, each beside its goal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"
#include "bench/targets/anneals.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t max_runs = 25;

/// What a row found.
struct Figure {
  double value = 0;
  std::int64_t replicas = 0, sweeps = 0;  ///< of a run
  std::vector<double> seconds;            ///< of the runs
};

enum class Goal : std::uint8_t { none, at_most, at_least };

struct TargetCase {
  std::string name, unit;
  Goal kind = Goal::none;
  double goal = 0;
  std::function<Figure(const BenchRun&, double limit_s)> measure;

  bool met(double value) const { return kind == Goal::at_most ? value <= goal : value >= goal; }
  std::string goal_text() const {
    if (kind == Goal::none) return "-";
    return fmt::format("{} {:g}", kind == Goal::at_most ? "<=" : ">=", goal);
  }
};

/// Seconds of whole runs of a QUBO of 64 bits, with set-up and result.
std::vector<double> small_runs(RunOptions options, std::int64_t sweeps, double limit_s) {
  const Problem problem = make_instance("palubeckis:64,50,1");
  Engine engine(std::move(options));
  std::vector<double> seconds;
  repeat({4, max_runs + 1, limit_s}, [&](std::int64_t number) {
    const Stopwatch whole;
    SimulatedAnnealing schedule;
    require_verified(engine.run(problem, schedule, {.sweeps = sweeps}));
    if (number > 0) seconds.push_back(whole.seconds());  // the first wakes the device
  });
  return seconds;
}

Figure latency(const BenchRun& run, double limit_s) {
  const RunOptions options = run_options(run, 1024);
  Figure row{0, 1024, run.options.sweeps.value_or(100), {}};
  row.seconds = small_runs(options, row.sweeps, limit_s / 2);
  row.value = 1;
  if (run.on_cpu()) return row;
  RunOptions twin = options;
  twin.device = "cpu";
  twin.threads = run.options.threads;
  const std::vector<double> of_twin = small_runs(twin, row.sweeps, limit_s / 2);
  row.value = spread_of(of_twin).median / spread_of(row.seconds).median;
  return row;
}

/// What 1000 sweeps more cost, of copies or of waits of the host.
Figure counted(const BenchRun& run, std::uint64_t Counters::*counter) {
  constexpr std::int64_t more = 1000;
  RunOptions options = run_options(run, 1024);
  options.report_interval_s = 1e6;
  const Problem problem = make_instance("torus:50x40,1");
  Figure row{0, options.replicas, run.options.sweeps.value_or(1000), {}};
  const auto count = [&](std::int64_t sweeps) {
    SimulatedAnnealingOptions same;
    same.anneal_sweeps = row.sweeps + more;
    SimulatedAnnealing schedule(same);
    Run one(problem, schedule, {.sweeps = sweeps}, options, run.backend);
    const Result result = one.advance();
    require_verified(result);
    row.seconds.push_back(result.time.run_s);
    return static_cast<double>(result.work.device.*counter);
  };
  row.value = -count(row.sweeps);
  row.value += count(row.sweeps + more);
  return row;
}

/// Norm of the errors of the energies of all replicas, relative to the norm of the energies, which
/// the host sums anew from the data of the problem.
Figure energy_error(const BenchRun& run, const char* instance, std::int64_t replicas,
                    std::int64_t sweeps) {
  const Problem problem = make_instance(instance);
  SimulatedAnnealing schedule;
  Run one(problem, schedule, {.sweeps = sweeps}, run_options(run, replicas), run.backend);
  const Result result = one.advance();
  double errors = 0, norm = 0;
  for (std::int64_t slot = 0; slot < replicas; ++slot) {
    const Replica replica = one.batch()[slot];
    const State state = replica.state();
    const double exact = problem.solution.verify(spans_of(state));
    const double error = problem.units.objective_of_stored(replica.energy()) - exact;
    errors += error * error;
    norm += exact * exact;
  }
  return {std::sqrt(errors / norm), replicas, result.work.sweeps, {result.time.run_s}};
}

/// Steps per second of all schedules together: sweeps of groups of 32 replicas.
Figure steps(const BenchRun& run, std::int64_t groups, double limit_s) {
  const Problem problem = make_instance("torus:8x8,1");
  Engine engine(run_options(run, groups * 32));
  Figure row{0, groups * 32, run.options.sweeps.value_or(sweeps_of_an_anneal), {}};
  repeat({2, max_runs, limit_s}, [&](std::int64_t number) {
    SimulatedAnnealing schedule = different_anneals(groups);
    const Result result = engine.run(problem, schedule, {.sweeps = row.sweeps});
    require_verified(result);
    if (number > 0) row.seconds.push_back(result.time.run_s);
  });
  row.value = static_cast<double>(groups * row.sweeps) / spread_of(row.seconds).median;
  return row;
}

/// Of chains of the normal density in 1000 dimensions: seconds of sampling, and gradients.
struct Chains {
  Figure row;
  double gradients = 0, sampling_s = 0;
};

Chains high_dimension(const BenchRun& run, std::int64_t chains, const char* sampler) {
  const Problem problem = make_instance("density:gaussian-1000,100");
  const std::string draws = run.options.quick ? "20" : "200";
  const auto schedule = builtin_registry().schedule("hmc").make(
      {{"sampler", sampler}, {"warmup", draws}, {"draws", draws}});
  Engine engine(run_options(run, chains));
  const Result result = engine.run(problem, *schedule, {});
  require_verified(result);
  return {{0, chains, result.work.sweeps, {result.time.run_s}},
          result.sample->gradients,
          result.sample->sampling_s};
}

Figure one_chain(const BenchRun& run, double) {
  Chains chains = high_dimension(run, 1, "nuts");
  chains.row.value = 50 * 1e6 * chains.sampling_s / chains.gradients;
  return chains.row;
}

Figure many_chains(const BenchRun& run, double) {
  Chains chains = high_dimension(run, run.on_cpu() ? 64 : 1024, "chees");
  chains.row.value = chains.gradients / chains.sampling_s;
  return chains.row;
}

Figure square(const BenchRun& run, double limit_s) {
  const Problem problem = make_instance("sk:1000,1");
  Engine engine(run_options(run, 1000));
  Figure row{0, 1000, run.options.sweeps.value_or(200), {}};
  repeat({2, max_runs, limit_s}, [&](std::int64_t number) {
    SimulatedAnnealing schedule;
    const Result result = engine.run(problem, schedule, {.sweeps = row.sweeps});
    require_verified(result);
    if (number > 0) row.seconds.push_back(result.time.run_s);
  });
  row.value =
      1e-9 * 1000.0 * 1000.0 * static_cast<double>(row.sweeps) / spread_of(row.seconds).median;
  return row;
}

const std::vector<TargetCase>& all_cases() {
  const auto error_after = [](std::int64_t sweeps) {
    return [sweeps](const BenchRun& run, double) {
      return energy_error(run, "ea:30x30,1", 256, run.options.sweeps.value_or(sweeps));
    };
  };
  const auto steps_of = [](std::int64_t groups) {
    return [groups](const BenchRun& run, double limit_s) { return steps(run, groups, limit_s); };
  };
  const auto count_of = [](std::uint64_t Counters::*counter) {
    return [counter](const BenchRun& run, double) { return counted(run, counter); };
  };
  static const std::vector<TargetCase> cases{
      {"latency of 64 bits", "x CPU twin", Goal::at_least, 10, latency},
      {"copies of 1000 sweeps", "copies", Goal::at_most, 0, count_of(&Counters::copies)},
      {"waits of 1000 sweeps", "waits", Goal::at_most, 0, count_of(&Counters::synchronizations)},
      {"energies after 1000 sweeps", "error", Goal::at_most, 1e-6, error_after(1000)},
      {"energies after 10,000 sweeps", "error", Goal::at_most, 1e-6, error_after(10000)},
      {"100 schedules", "steps/s", Goal::none, 0, steps_of(100)},
      {"1000 schedules", "steps/s", Goal::at_least, 1e5, steps_of(1000)},
      {"4096 schedules", "steps/s", Goal::at_least, 1e6, steps_of(4096)},
      {"d = 1000, one chain", "us/50 gradients", Goal::at_most, 60, one_chain},
      {"d = 1000, many chains", "gradients/s", Goal::none, 0, many_chains},
      {"1000 spins x 1000 replicas", "attempts/ns", Goal::none, 0, square},
  };
  return cases;
}

Json json_of(const BenchRun& run, const TargetCase& one, const Figure& row) {
  const bool has_goal = one.kind != Goal::none;
  return {{"case", one.name},
          {"backend", run.on_cpu() ? "cpu" : "cuda"},
          {"figure", row.value},
          {"unit", one.unit},
          {"goal", has_goal ? Json(one.goal) : Json(nullptr)},
          {"goal_is",
           has_goal ? Json(one.kind == Goal::at_most ? "at most" : "at least") : Json(nullptr)},
          {"met", has_goal ? Json(one.met(row.value)) : Json(nullptr)},
          {"replicas", row.replicas},
          {"sweeps", row.sweeps},
          {"seconds", json_of(spread_of(row.seconds))},
          {"seed", run_seed}};
}

std::vector<std::string> cells_of(const TargetCase& one, const Figure& row) {
  const bool has_goal = one.kind != Goal::none;
  return {one.name,
          one.unit,
          fmt::format("{}", row.replicas),
          fmt::format("{}", row.sweeps),
          fmt::format("{:.3g}", row.value),
          one.goal_text(),
          !has_goal            ? "-"
          : one.met(row.value) ? "yes"
                               : "no"};
}

}  // namespace

BenchReport run_original_targets_suite(const BenchRun& run) {
  BenchReport report;
  report.facts = {{"method", "run"},
                  {"method_text",
                   "whole runs by the steady clock; counts are those of the queue; errors are "
                   "relative norms over all replicas against sums of the host"}};
  report.table = {{"case", "unit", "replicas", "sweeps", "figure", "goal", "met"}};
  report.first_number = 2;
  report.notes.emplace_back("the goals are of a GPU");
  const auto name_of = [](const TargetCase& one) { return one.name; };
  measure_rows(run, all_cases(), name_of, report, [&](const TargetCase& one, double limit_s) {
    const Figure row = one.measure(run, limit_s);
    report.rows.push_back(json_of(run, one, row));
    report.table.push_back(cells_of(one, row));
  });
  return report;
}

}  // namespace kiln::cli
