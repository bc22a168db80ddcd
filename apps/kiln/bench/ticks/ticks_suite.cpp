// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench ticks: how many launches a tick of each schedule has, and what launching costs beside
// what the kernels do.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "kiln/errors.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"
#include "bench/ticks/tick_by_hand.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int max_repetitions = 5;
constexpr std::int64_t default_sweeps = 2000;  // what schedules plan for
constexpr std::int64_t warm_up_ticks = 4, min_ticks = 8;
constexpr int idle_batches = 15;
constexpr double idle_batch_s = 1e-3;
constexpr std::int64_t max_idle_ticks = 1000;  // in one batch
constexpr std::uint64_t seed = 1;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct TicksCase {
  std::string schedule, instance;
  std::map<std::string, std::string> parameters = {};

  std::string name() const {
    std::string text = schedule;
    for (const auto& [key, value] : parameters) text += " " + value;
    return text + " " + instance;
  }
};

const std::vector<TicksCase>& all_cases() {
  static const std::vector<TicksCase> cases{
      {"simulated-annealing", "gset:G1"},
      {"parallel-tempering", "gset:G1"},
      {"parallel-tempering", "torus:10x10,1"},
      {"replica-exchange", "gset:G1"},
      {"population-annealing", "gset:G1"},
      {"simulated-bifurcation", "k2000"},
      {"random-search", "gset:G1"},
      {"tabu-coloring", "coloring:125,50,min,1"},
      {"hmc", "posterior:eight-schools", {{"sampler", "nuts"}}},
      {"hmc", "posterior:eight-schools", {{"sampler", "chees"}}},
      {"evolutionary", "zdt:1", {{"strategy", "nsga2"}}},
      {"evolutionary", "dtlz:2", {{"strategy", "nsga3"}}},
      {"evolutionary", "zdt:1", {{"strategy", "moead"}}},
      {"evolutionary", "zdt:1", {{"strategy", "sms-emoa"}}},
      {"amosa", "zdt:1"}};
  return cases;
}

/// What a tick enqueues, and how long it takes where nothing is left to do.
struct Idle {
  std::int64_t launches = 0;
  std::int64_t nodes = 0;  ///< of the captured tick; 0: it is not captured
  Spread seconds;
};

/// A tick of a run that has stopped: its kernels are launched and return at once.
class IdleTick {
 public:
  IdleTick(Run& run, Schedule& schedule, std::uint64_t sweeps)
      : queue_(run.queue()), tick_(run, schedule, sweeps) {
    RunControl control = tick_.read_control();
    control.stop = DeviceStop::step_limit;
    tick_.write_control(control);
  }

  Idle measure(bool captured) {
    Idle idle;
    const Counters before = queue_.counters();
    tick_.enqueue();
    idle.launches = static_cast<std::int64_t>((queue_.counters() - before).launches);
    if (captured) {
      graph_ = tick_.capture(1);
      idle.nodes = graph_->nodes();
    }
    const std::int64_t ticks = ticks_of_a_batch();
    std::vector<double> seconds;
    for (int i = 0; i < idle_batches; ++i) {
      seconds.push_back(batch_s(ticks) / static_cast<double>(ticks));
    }
    idle.seconds = spread_of(seconds);
    return idle;
  }

 private:
  double batch_s(std::int64_t ticks) {
    queue_.begin_timer();
    for (std::int64_t i = 0; i < ticks; ++i) {
      if (graph_) {
        queue_.replay(*graph_);
      } else {
        tick_.enqueue();
      }
    }
    return queue_.end_timer_s();
  }

  std::int64_t ticks_of_a_batch() {
    batch_s(1);
    const double tick_s = batch_s(4) / 4;
    const double wanted = idle_batch_s / std::max(tick_s, 1e-9);
    return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(max_idle_ticks)));
  }

  Queue& queue_;
  TickByHand tick_;
  std::unique_ptr<TickGraph> graph_;
};

struct Measured {
  const TicksCase& which;
  int threads = 0;  ///< 0 on a GPU
  Work work;        ///< of the last run
  Spread tick_s;
  Idle idle;

  double sweeps_per_tick() const {
    return static_cast<double>(work.sweeps) / static_cast<double>(work.ticks);
  }
  std::int64_t nodes() const { return idle.nodes > 0 ? idle.nodes : idle.launches; }
  double node_s() const { return tick_s.median / static_cast<double>(nodes()); }
  double idle_share() const { return idle.seconds.median / tick_s.median; }
};

/// Whole runs of one case, of as many ticks as a share of its time allows.
class CaseRun {
 public:
  CaseRun(const BenchRun& bench, const TicksCase& which)
      : bench_(bench), which_(which), problem_(make_instance(which.instance)) {
    options_.device = bench.backend.backend->info().name;
    options_.threads = bench.on_cpu() ? bench.backend.backend->info().parallel_units : 0;
    options_.seed = seed;
  }

  Measured measure(double limit_s) {
    const auto begin = Clock::now();
    Measured row{which_, options_.threads, {}, {}, {}};
    const std::int64_t per_tick = sweeps_per_tick();
    const Result first = run(warm_up_ticks * per_tick, nullptr);
    const std::int64_t sweeps = per_tick * ticks_for(first, limit_s - seconds_since(begin));
    std::vector<double> seconds;
    bool last = false;
    do {
      last = seconds.size() + 1 == max_repetitions || seconds_since(begin) > limit_s / 2;
      const Result result = run(sweeps, last ? &row.idle : nullptr);
      row.work = result.work;
      seconds.push_back(result.time.run_s / static_cast<double>(result.work.ticks));
    } while (!last);
    row.tick_s = spread_of(seconds);
    return row;
  }

 private:
  std::unique_ptr<Schedule> schedule() const {
    return registry_.schedule(which_.schedule).make(which_.parameters);
  }

  std::int64_t sweeps_per_tick() const {
    return schedule()->needs(problem_, {.sweeps = default_sweeps}).sweeps_per_tick;
  }

  // Two runs and their idle ticks fill the time.
  std::int64_t ticks_for(const Result& first, double left_s) const {
    const double tick_s = first.time.run_s / static_cast<double>(first.work.ticks);
    const auto per_tick = static_cast<double>(first.work.sweeps / first.work.ticks);
    const double most = static_cast<double>(bench_.options.sweeps.value_or(default_sweeps));
    const double wanted = bench_.options.sweeps ? most : left_s / 3 / std::max(tick_s, 1e-9);
    return static_cast<std::int64_t>(
        std::clamp(wanted, static_cast<double>(min_ticks),
                   std::max(static_cast<double>(min_ticks), most / per_tick)));
  }

  /// @param idle  null: idle ticks are not measured
  Result run(std::int64_t sweeps, Idle* idle) {
    const std::unique_ptr<Schedule> schedule = this->schedule();
    Run one(problem_, *schedule, {.sweeps = sweeps}, options_, bench_.backend);
    Result result = one.advance();
    require_verified(result);
    if (idle == nullptr) return result;
    const auto per_tick = static_cast<std::uint64_t>(result.work.sweeps / result.work.ticks);
    *idle =
        IdleTick(one, *schedule, per_tick).measure(result.executor.executor != Executor::stream);
    return result;
  }

  const BenchRun& bench_;
  const TicksCase& which_;
  Problem problem_;
  Registry registry_ = builtin_registry();
  RunOptions options_;
};

Json json_of(const Measured& row) {
  const double sweeps = row.sweeps_per_tick();
  return {{"case", row.which.name()},
          {"schedule", row.which.schedule},
          {"instance", row.which.instance},
          {"backend", row.threads > 0 ? "cpu" : "cuda"},
          {"threads", row.threads > 0 ? Json(row.threads) : Json(nullptr)},
          {"replicas", row.work.replicas},
          {"ticks", row.work.ticks},
          {"sweeps_per_tick", sweeps},
          {"launches_per_tick", row.idle.launches},
          {"nodes_per_tick", row.idle.nodes > 0 ? Json(row.idle.nodes) : Json(nullptr)},
          {"microseconds_per_tick", json_of(scaled(row.tick_s, 1e6))},
          {"microseconds_per_sweep", row.tick_s.median * 1e6 / sweeps},
          {"microseconds_per_node", row.node_s() * 1e6},
          {"idle_microseconds_per_tick", json_of(scaled(row.idle.seconds, 1e6))},
          {"idle_share", row.idle_share()},
          {"seed", seed}};
}

std::vector<std::string> cells_of(const Measured& row) {
  return {row.which.name(),
          fmt::format("{}", row.work.replicas),
          fmt::format("{:g}", row.sweeps_per_tick()),
          fmt::format("{}", row.nodes()),
          three_digits(row.tick_s.median * 1e6),
          three_digits(row.node_s() * 1e6),
          three_digits(row.idle.seconds.median * 1e6),
          fmt::format("{:.2g} %", 100 * row.idle_share())};
}

}  // namespace

BenchReport run_ticks_suite(const BenchRun& run) {
  const auto wanted =
      wanted_rows(run, all_cases(), [](const TicksCase& one) { return one.name(); });
  const double limit_s = run.options.time_limit_s / static_cast<double>(wanted.size());
  BenchReport report;
  report.facts = {{"method", "run"},
                  {"method_text",
                   "whole runs by the steady clock, without set-up, divided by their ticks; idle "
                   "ticks by the clock of the queue after the run has stopped"}};
  report.table = {{"case", "replicas", "sweeps", "nodes", "us/tick", "us/node", "idle us", "idle"}};
  report.notes.push_back(
      run.on_cpu() ? "sweeps and nodes of one tick; a node is a launch; idle: the same launches "
                     "after the run has stopped"
                   : "sweeps and nodes of one tick; a node is one of its captured graph; idle: the "
                     "same graph after the run has stopped");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string name = wanted[i]->name();
    run.progress.update(i, wanted.size(), name, report);
    report.measure(name, [&] {
      const Measured row = CaseRun(run, *wanted[i]).measure(limit_s);
      report.rows.push_back(json_of(row));
      report.table.push_back(cells_of(row));
    });
  }
  return report;
}

}  // namespace kiln::cli
