// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench executors: the same run by each executor, and how often the host launches something.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "kiln/errors.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t warm_up_ticks = 50;
constexpr int max_repetitions = 3;
// Of the time of a row, beside one each for the others: `auto` measures for about 1.2 s.
constexpr int shares_of_auto = 4;
constexpr std::uint64_t seed = 1;

struct ExecutorsCase {
  std::string schedule, instance;
  std::int64_t replicas = 0;  ///< 0: the default
  std::map<std::string, std::string> parameters = {};

  std::string name() const {
    std::string text = schedule;
    for (const auto& [key, value] : parameters) {
      const bool is_variant = key == "sampler" || key == "strategy";
      text += is_variant ? " " + value : " " + key + "=" + value;
    }
    text += " " + instance;
    return replicas > 0 ? fmt::format("{}, {} replicas", text, replicas) : text;
  }
};

// Where launches count and where they do not: short ticks of few and of many replicas, and the
// instances of the suite sweep.
const std::vector<ExecutorsCase>& all_cases() {
  static const std::vector<ExecutorsCase> cases = [] {
    std::vector<ExecutorsCase> all;
    for (const std::int64_t replicas : {1024, 4096, 16384, 33792, 67584}) {
      all.push_back({"parallel-tempering", "torus:10x10,1", replicas});
    }
    for (const std::int64_t replicas : {1024, 4096, 16384, 33792}) {
      all.push_back({"parallel-tempering", "torus:20x10,1", replicas, {{"cluster_moves", "off"}}});
    }
    all.push_back({"parallel-tempering", "gset:G1"});
    all.push_back({"parallel-tempering", "gset:G11"});
    all.push_back({"hmc", "posterior:eight-schools", 0, {{"sampler", "nuts"}}});
    all.push_back({"evolutionary", "zdt:1", 0, {{"strategy", "nsga2"}}});
    for (const char* const instance : sweep_instances) {
      all.push_back({"simulated-annealing", instance});
    }
    return all;
  }();
  return cases;
}

struct Measured {
  Result last;
  Spread tick_s;

  double launches() const {
    const Counters& all = last.work.device;
    return static_cast<double>(all.launches + all.graph_launches);
  }
  double per_thousand_sweeps() const {
    return 1000 * launches() / static_cast<double>(last.work.sweeps);
  }
  double ms_per_launch() const { return 1e3 * last.time.run_s / launches(); }
};

/// Whole runs of one case by one executor after another.
class CaseRuns {
 public:
  CaseRuns(const BenchRun& bench, const ExecutorsCase& which)
      : bench_(bench), which_(which), problem_(make_instance(which.instance)) {
    options_.device = bench.backend.backend->info().name;
    options_.threads = bench.on_cpu() ? bench.backend.backend->info().parallel_units : 0;
    options_.seed = seed;
    options_.replicas = which.replicas;
  }

  int threads() const { return options_.threads; }

  /// @param limit_s  for all repetitions together
  Measured measure(Executor executor, double limit_s) {
    options_.executor = executor;
    const auto begin = Clock::now();
    const std::int64_t per_tick =
        schedule()->needs(problem_, {.sweeps = warm_up_ticks}).sweeps_per_tick;
    const Result first = run(warm_up_ticks * per_tick);
    const double tick_s = first.time.run_s / static_cast<double>(first.work.ticks);
    const bool once = bench_.options.quick || executor == Executor::automatic;
    const int wanted = once ? 1 : max_repetitions;
    const double of_a_run = limit_s / (wanted + 1) / std::max(tick_s, 1e-9);
    const auto ticks = static_cast<std::int64_t>(std::clamp(of_a_run, 10.0, 1e7));
    Measured row;
    std::vector<double> seconds;
    const auto elapsed_s = [&] {
      return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    do {
      row.last = run(bench_.options.sweeps.value_or(ticks * per_tick));
      seconds.push_back(row.last.time.run_s / static_cast<double>(row.last.work.ticks));
    } while (static_cast<int>(seconds.size()) < wanted && elapsed_s() < limit_s * 0.7);
    row.tick_s = spread_of(seconds);
    return row;
  }

 private:
  std::unique_ptr<Schedule> schedule() const {
    return registry_.schedule(which_.schedule).make(which_.parameters);
  }

  Result run(std::int64_t sweeps) {
    const std::unique_ptr<Schedule> schedule = this->schedule();
    Run one(problem_, *schedule, {.sweeps = sweeps}, options_, bench_.backend);
    Result result = one.advance();
    require_verified(result);
    return result;
  }

  const BenchRun& bench_;
  const ExecutorsCase& which_;
  Problem problem_;
  Registry registry_ = builtin_registry();
  RunOptions options_;
};

// Nothing where the executor does not apply to the case.
std::optional<Measured> measured(CaseRuns& runs, Executor executor, double limit_s) {
  try {
    return runs.measure(executor, limit_s);
  } catch (const InvalidArgument& error) {
    if (error.code() != "executor.resident") throw;
    return {};
  }
}

Json json_of(const ExecutorsCase& which, int threads, Executor executor, const Measured& row) {
  const ExecutorChoice& choice = row.last.executor;
  return {{"case", which.name()},
          {"schedule", which.schedule},
          {"instance", which.instance},
          {"backend", threads > 0 ? "cpu" : "cuda"},
          {"threads", threads > 0 ? Json(threads) : Json(nullptr)},
          {"replicas", row.last.work.replicas},
          {"executor", to_string(executor)},
          {"chosen", to_string(choice.executor)},
          {"reason", choice.reason},
          {"ticks", row.last.work.ticks},
          {"sweeps", row.last.work.sweeps},
          {"microseconds_per_tick", json_of(scaled(row.tick_s, 1e6))},
          {"launches", row.launches()},
          {"launches_per_1000_sweeps", row.per_thousand_sweeps()},
          {"milliseconds_per_launch", row.ms_per_launch()},
          {"seed", seed}};
}

}  // namespace

BenchReport run_executors_suite(const BenchRun& run) {
  BenchReport report;
  report.facts = {{"method", "run"},
                  {"method_text",
                   "whole runs by the steady clock, without set-up, divided by their ticks; "
                   "launches of the whole run, kernels and graphs"}};
  report.table = {{"case", "replicas", "executor", "us/tick", "launches/1000", "ms/launch"}};
  report.notes.push_back(
      "launches/1000: of the host, for 1000 sweeps of each replica; "
      "auto: the executor that the run chose");
  std::vector<Executor> executors{Executor::automatic};
  if (!run.on_cpu()) {
    executors = {Executor::stream, Executor::graph, Executor::loop, Executor::resident,
                 Executor::automatic};
  }
  measure_rows(
      run, all_cases(), [](const ExecutorsCase& one) { return one.name(); }, report,
      [&](const ExecutorsCase& one, double limit_s) {
        CaseRuns runs(run, one);
        const double share_s = limit_s / static_cast<double>(executors.size() - 1 + shares_of_auto);
        for (const Executor executor : executors) {
          const int shares = executor == Executor::automatic ? shares_of_auto : 1;
          const auto found = measured(runs, executor, shares * share_s);
          if (!found) continue;
          const Measured& row = *found;
          report.rows.push_back(json_of(one, runs.threads(), executor, row));
          std::string name(to_string(executor));
          if (executor == Executor::automatic) {
            name += fmt::format(" ({})", to_string(row.last.executor.executor));
          }
          report.table.push_back({one.name(), fmt::format("{}", row.last.work.replicas), name,
                                  three_digits(row.tick_s.median * 1e6),
                                  three_digits(row.per_thousand_sweeps()),
                                  three_digits(row.ms_per_launch())});
        }
      });
  return report;
}

}  // namespace kiln::cli
