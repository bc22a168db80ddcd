// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench schedules: thousands of anneals of small problems at once, each with its own options.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kiln/engine.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"
#include "bench/targets/anneals.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 2> instances{"torus:8x8,1", "sk:64,1"};
constexpr std::int64_t groups = 4096, replicas_of_a_group = 32;
constexpr int max_repetitions = 5;

struct Measured {
  std::string instance;
  int threads = 0;  ///< 0 on a GPU
  std::int64_t rounds = 0;
  Result result;  ///< of the last run; all are alike but for their times
  Spread run_s;

  Spread schedules_per_s() const { return rate_of(static_cast<double>(groups * rounds), run_s); }
  double attempts_per_ns() const { return result.work.attempts * 1e-9 / run_s.median; }
  /// Share of the groups that found the best value of all.
  double best_share() const {
    const std::vector<double>& best = result.series.at("group_best");
    const auto hits = std::ranges::count(best, result.objective);
    return static_cast<double>(hits) / static_cast<double>(best.size());
  }
};

/// Runs of anneals one after the other, each from new random states.
class AnnealRun {
 public:
  AnnealRun(const BenchRun& bench, const std::string& instance)
      : bench_(bench),
        problem_(make_instance(instance)),
        engine_(run_options(bench, groups * replicas_of_a_group)) {}

  Measured measure(const std::string& instance, double limit_s) {
    const Stopwatch spent;
    Measured row{instance, engine_.options().threads, 1, {}, {}};
    const double one_s = run(1).time.run_s;  // loads code and wakes the device, too
    constexpr double run_s = 0.5;
    const double wanted = std::min(run_s, limit_s / 4) / std::max(one_s, 1e-6);
    row.rounds = static_cast<std::int64_t>(std::clamp(wanted, 1.0, 1000.0));
    if (bench_.options.sweeps) {
      row.rounds = std::max<std::int64_t>(1, *bench_.options.sweeps / sweeps_of_an_anneal);
    }
    std::vector<double> seconds;
    repeat({1, max_repetitions, limit_s - spent.seconds()}, [&](std::int64_t) {
      row.result = run(row.rounds);
      seconds.push_back(row.result.time.run_s);
    });
    row.run_s = spread_of(seconds);
    return row;
  }

 private:
  Result run(std::int64_t rounds) {
    SimulatedAnnealing schedule = different_anneals(groups);
    Result result = engine_.run(problem_, schedule, {.sweeps = rounds * sweeps_of_an_anneal});
    require_verified(result);
    return result;
  }

  const BenchRun& bench_;
  Problem problem_;
  Engine engine_;
};

Json json_of(const Measured& row) {
  const Spread rate = row.schedules_per_s();
  return {{"instance", row.instance},
          {"backend", row.threads > 0 ? "cpu" : "cuda"},
          {"threads", row.threads > 0 ? Json(row.threads) : Json(nullptr)},
          {"groups", groups},
          {"replicas", groups * replicas_of_a_group},
          {"anneal_sweeps", sweeps_of_an_anneal},
          {"anneals", groups * row.rounds},
          {"seconds", row.run_s.median},
          {"schedules_per_s", rate.median},
          {"schedules_per_s_spread", json_of(rate)},
          {"attempts_per_ns", row.attempts_per_ns()},
          {"best_share", row.best_share()},
          {"setup_s", row.result.time.setup_s},
          {"seed", run_seed}};
}

std::vector<std::string> cells_of(const Measured& row) {
  const Spread rate = row.schedules_per_s();
  return {row.instance,
          row.threads > 0 ? fmt::format("{} thr", row.threads) : "cuda",
          fmt::format("{}", groups * row.rounds),
          three_digits(row.run_s.median),
          fmt::format("{:.3g}", rate.median),
          fmt::format("{:.3g} .. {:.3g}", rate.min, rate.max),
          three_digits(row.attempts_per_ns()),
          fmt::format("{:.1f} %", 100 * row.best_share())};
}

}  // namespace

BenchReport run_schedules_suite(const BenchRun& run) {
  BenchReport report;
  report.facts = {
      {"method", "run"},
      {"method_text",
       "whole runs by the steady clock, without set-up: 4096 groups of 32 replicas, each group an "
       "anneal of 100 sweeps from random states with its own cooling policy and range"}};
  report.table = {
      {"instance", "device", "anneals", "s", "schedules/s", "range", "attempts/ns", "best"}};
  report.notes.emplace_back("best: share of the groups that found the best value of all groups");
  const auto name_of = [](const char* name) { return name; };
  measure_rows(run, instances, name_of, report, [&](const char* instance, double limit_s) {
    const Measured row = AnnealRun(run, instance).measure(instance, limit_s);
    report.rows.push_back(json_of(row));
    report.table.push_back(cells_of(row));
  });
  return report;
}

}  // namespace kiln::cli
