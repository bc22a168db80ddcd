// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench api: what Engine::run costs beside the same kernels, launched by hand on such a batch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kiln/device/exact_math.hpp"
#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"
#include "bench/ticks/tick_by_hand.hpp"
#include "bench/timing.hpp"
#include "errors.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t pairs = 11, quick_pairs = 2;
constexpr std::int64_t ticks_of_graph = 16;  // as the engine's
constexpr std::int64_t min_ticks = 4, trial_sweeps = 16;

struct ApiCase {
  std::string name, instance;
  std::int64_t replicas, replicas_on_cpu;
};

const std::vector<ApiCase>& all_cases() {
  static const std::vector<ApiCase> cases{
      {"G22", "gset:G22", 4096, 4096}, {"rosenbrock-10", "function:rosenbrock-10", 131072, 4096}};
  return cases;
}

struct Measured {
  std::int64_t replicas = 0, sweeps = 0, per_tick = 0;
  std::vector<double> api_s = {}, direct_s = {};  ///< of a sweep
  std::vector<double> ratio = {};
  std::vector<double> whole = {};  ///< Engine::run with set-up and result, over the launches
};

/// Runs through the interface and by hand take turns, so that a change of the clock concerns both.
class ApiPairs {
 public:
  ApiPairs(const BenchRun& bench, const ApiCase& which)
      : bench_(bench),
        problem_(make_instance(which.instance)),
        options_(run_options(bench, bench.on_cpu() ? which.replicas_on_cpu : which.replicas)),
        engine_(options_, bench.backend) {}

  Measured measure(double limit_s) {
    const std::int64_t count = bench_.options.quick ? quick_pairs : pairs;
    Measured row;
    row.replicas = options_.replicas;
    plan(row, limit_s / (2.0 * static_cast<double>(count) + 1));
    repeat({2, count, 1.5 * limit_s}, [&](std::int64_t number) {
      const bool direct_first = number % 2 == 0;
      double direct_s = direct_first ? run_by_hand(row) : 0;
      const Stopwatch whole;
      const Result result = run(row.sweeps);
      const auto sweeps = static_cast<double>(row.sweeps);
      const double whole_s = whole.seconds() / sweeps, api_s = result.time.run_s / sweeps;
      if (!direct_first) direct_s = run_by_hand(row);
      require_same(row, result);
      row.api_s.push_back(api_s);
      row.direct_s.push_back(direct_s);
      row.ratio.push_back(api_s / direct_s);
      row.whole.push_back(whole_s / direct_s);
    });
    return row;
  }

 private:
  Result run(std::int64_t sweeps) {
    SimulatedAnnealing schedule;
    Result result = engine_.run(problem_, schedule, {.sweeps = sweeps});
    require_verified(result);
    return result;
  }

  // Whole ticks, of a run that lasts `share_s`.
  void plan(Measured& row, double share_s) {
    run(trial_sweeps);  // wakes the device
    const double sweep_s = run(trial_sweeps).time.run_s / static_cast<double>(trial_sweeps);
    const auto wanted = static_cast<std::int64_t>(share_s / std::max(sweep_s, 1e-9));
    const std::int64_t sweeps = std::max<std::int64_t>(1, bench_.options.sweeps.value_or(wanted));
    SimulatedAnnealing schedule;
    row.per_tick = schedule.needs(problem_, {.sweeps = sweeps}).sweeps_per_tick;
    row.sweeps = row.per_tick * std::max(min_ticks, sweeps / row.per_tick);
  }

  /// Seconds of a sweep. The engine makes the first tick, which draws the states and loads the
  /// kernels; the other ticks are timed.
  double run_by_hand(const Measured& row) {
    SimulatedAnnealing schedule;
    Run run(problem_, schedule, {.sweeps = row.sweeps}, options_, bench_.backend);
    run.advance_to({.sweeps = row.per_tick});
    TickByHand tick(run, schedule, static_cast<std::uint64_t>(row.per_tick));
    RunControl control = tick.read_control();
    control.stop = DeviceStop::none;
    control.step_limit = static_cast<std::uint64_t>(row.sweeps);
    tick.write_control(control);
    const double seconds = launch(run.queue(), tick, row.sweeps / row.per_tick - 1);
    control = tick.read_control();
    if (control.step != static_cast<std::uint64_t>(row.sweeps)) {
      throw SelfCheckError("bench.api", "the launches by hand made another number of sweeps");
    }
    best_by_hand_ = problem_.units.objective_of_stored(exact::from_order_key(control.best_key));
    return seconds / static_cast<double>(row.sweeps - row.per_tick);
  }

  double launch(Queue& queue, TickByHand& tick, std::int64_t ticks) {
    std::unique_ptr<TickGraph> one, several;
    if (queue.can_capture()) {
      one = tick.capture(1);
      several = tick.capture(ticks_of_graph);
    }
    queue.wait();
    const Stopwatch spent;
    while (ticks > 0) {
      if (several && ticks >= ticks_of_graph) {
        queue.replay(*several);
        ticks -= ticks_of_graph;
        continue;
      }
      if (one) {
        queue.replay(*one);
      } else {
        tick.enqueue();
      }
      --ticks;
    }
    queue.wait();
    return spent.seconds();
  }

  // Both made the same moves, so they found the same value. Reals are computed anew for a result.
  void require_same(const Measured& row, const Result& result) const {
    if (result.work.sweeps != row.sweeps || result.work.ticks * row.per_tick != row.sweeps) {
      throw SelfCheckError("bench.api", "the run made other ticks than the launches by hand");
    }
    const double close = 1e-9 * std::max(1.0, std::abs(best_by_hand_));
    if (std::abs(result.objective - best_by_hand_) <= close) return;
    throw SelfCheckError("bench.api", fmt::format("the launches by hand found {}, the run found {}",
                                                  best_by_hand_, result.objective));
  }

  const BenchRun& bench_;
  Problem problem_;
  RunOptions options_;
  Engine engine_;
  double best_by_hand_ = 0;
};

void measure(const BenchRun& run, const ApiCase& which, double limit_s, BenchReport& report) {
  const Measured row = ApiPairs(run, which).measure(limit_s);
  const Spread ratio = spread_of(row.ratio), api = spread_of(row.api_s);
  const double whole = spread_of(row.whole).median - 1;
  const auto percent = [](double share) { return fmt::format("{:+.2f} %", 100 * share); };
  report.rows.push_back(
      {{"case", which.name},
       {"instance", which.instance},
       {"replicas", row.replicas},
       {"threads", run.on_cpu() ? Json(run.backend.backend->info().parallel_units) : Json(nullptr)},
       {"sweeps", row.sweeps},
       {"sweeps_per_tick", row.per_tick},
       {"direct_microseconds_per_sweep", json_of(scaled(spread_of(row.direct_s), 1e6))},
       {"api_microseconds_per_sweep", json_of(scaled(api, 1e6))},
       {"sweeps_per_s", 1 / api.median},
       {"overhead", ratio.median - 1},
       {"whole_overhead", whole},
       {"ratio", json_of(ratio)},
       {"seed", run_seed}});
  report.table.push_back({which.name, fmt::format("{}", row.replicas),
                          fmt::format("{}", row.sweeps),
                          three_digits(spread_of(row.direct_s).median * 1e6),
                          three_digits(api.median * 1e6), percent(ratio.median - 1),
                          fmt::format("{:+.2f} .. {:+.2f}", 100 * (ratio.lower_quartile - 1),
                                      100 * (ratio.upper_quartile - 1)),
                          percent(whole)});
}

}  // namespace

BenchReport run_api_suite(const BenchRun& run) {
  BenchReport report;
  report.facts = {{"method", "pairs"},
                  {"method_text",
                   "annealing by Engine::run, and the launches of its ticks by hand on another "
                   "batch, in pairs that change their order; both by the steady clock"}};
  report.table = {
      {"case", "replicas", "sweeps", "direct us", "API us", "overhead", "quartiles %", "whole"}};
  report.notes.push_back(
      "us of a sweep; overhead: of the run without set-up; whole: of Engine::run with set-up and "
      "result");
  const auto name_of = [](const ApiCase& one) { return one.name; };
  measure_rows(run, all_cases(), name_of, report,
               [&](const ApiCase& one, double limit_s) { measure(run, one, limit_s, report); });
  return report;
}

}  // namespace kiln::cli
