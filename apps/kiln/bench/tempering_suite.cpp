// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench tempering: whole runs of parallel tempering, beside the same sweeps without exchanges.
#include <fmt/format.h>

#include <array>
#include <chrono>

#include "kiln/engine.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"
#include "kiln/registry.hpp"
#include "kiln/run_context.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::array<const char*, 6> instances{"gset:G1",  "gset:G11",      "gset:G22",
                                               "gset:G32", "torus:50x40,1", "torus:10x10,1"};
constexpr int max_repetitions = 5;
constexpr std::int64_t default_sweeps = 2000;  // fewer give no round trips on long ladders
constexpr std::uint64_t seed = 1;

/// The sweeps of a tempering run and nothing else: each replica stays at its rung.
class SweepsAlone : public Schedule {
 public:
  explicit SweepsAlone(std::vector<double> ladder) : ladder_(std::move(ladder)) {}

  std::string name() const override { return "sweeps-alone"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override {
    Needs needs;
    needs.sweeps_per_tick = sweeps_per_tick;
    needs.group_size = static_cast<std::int64_t>(ladder_.size());
    needs.ladders_in_blocks = true;
    return needs;
  }
  void allocate(AllocateContext& run) override {
    const auto rungs = static_cast<std::int64_t>(ladder_.size());
    const LadderPlaces places{run.batch().groups(), rungs, 0,
                              run.draw_naming() == DrawNaming::planes};
    std::vector<double> betas;
    for (std::int64_t g = 0; g < places.groups; ++g) {
      betas.insert(betas.end(), ladder_.begin(), ladder_.end());
    }
    std::vector<std::int32_t> rung_of(static_cast<std::size_t>(run.batch().slots()), 0);
    for (std::int64_t slot = 0; slot < places.slots(); ++slot) {
      rung_of[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(places.number_of(slot));
    }
    run.queue().upload(run.batch().rung_of().data, rung_of.data(),
                       rung_of.size() * sizeof(std::int32_t));
    beta_ = run.scratch("beta", betas);
    run.show_beta({beta_.data, 1});
  }
  void enqueue(TickContext& run) override {
    // One by one, as tempering makes them.
    for (std::uint32_t s = 0; s < sweeps_per_tick; ++s) run.sweep(beta_, s, true);
    run.track_best();
  }

 private:
  // So many that keeping the best state, once a tick, does not count.
  static constexpr std::uint32_t sweeps_per_tick = 50;

  std::vector<double> ladder_;
  View1<double> beta_;
};

struct Measured {
  std::string instance, backend;
  int threads = 0;                      ///< 0 on a GPU
  Result result;                        ///< of the last run; all are alike but for their times
  Spread run_s;                         ///< of whole runs
  std::vector<double> other_shares;     ///< of pairs of runs: time that is not in sweeps
  std::vector<double> exchange_shares;  ///< the same of a run without cluster moves
  std::vector<double> cluster_shares;   ///< time that a run without cluster moves saves
  std::int64_t variables = 0, couplings = 0;

  Spread attempts_per_ns() const { return rate_of(result.work.attempts * 1e-9, run_s); }
  Json number(const char* name) const {
    const auto found = result.diagnostics.find(name);
    return found == result.diagnostics.end() ? Json(nullptr) : Json(found->second);
  }
};

double seconds_per_sweep(const Result& result) {
  return result.time.run_s / static_cast<double>(result.work.sweeps);
}

Result run_verified(Engine& engine, const Problem& problem, Schedule& schedule,
                    std::int64_t sweeps) {
  Result result = engine.run(problem, schedule, {.sweeps = sweeps});
  require_verified(result);
  return result;
}

Measured measure(const BenchRun& run, const std::string& instance, double limit_s) {
  const DeviceInfo info = run.backend.backend->info();
  RunOptions options;
  options.device = info.name;
  options.threads = run.on_cpu() ? info.parallel_units : 0;
  options.seed = seed;
  Engine engine(options);
  const Problem problem = make_instance(instance);
  const Registry registry = builtin_registry();
  const ScheduleEntry& tempering = registry.schedule("parallel-tempering");
  const std::int64_t sweeps = run.options.sweeps.value_or(default_sweeps);
  // Loads code, wakes the device, and says what the default number of replicas is.
  options.replicas = run_verified(engine, problem, *tempering.make({}), 4).work.replicas;
  Engine same_batch(options);

  Measured row{instance, run.on_cpu() ? "cpu" : "cuda", options.threads, {}, {}, {}, {}, {}, 0, 0};
  std::vector<double> seconds;
  const auto begin = Clock::now();
  do {
    row.result = run_verified(same_batch, problem, *tempering.make({}), sweeps);
    seconds.push_back(row.result.time.run_s);
    SweepsAlone alone(row.result.series.at("beta"));
    const Result bare = run_verified(same_batch, problem, alone, sweeps);
    const double whole_s = seconds_per_sweep(row.result), sweep_s = seconds_per_sweep(bare);
    row.other_shares.push_back(1 - sweep_s / whole_s);
    const bool clusters = row.result.series.contains("cluster_open");
    const double apart_s =
        clusters ? seconds_per_sweep(run_verified(
                       same_batch, problem, *tempering.make({{"cluster_moves", "off"}}), sweeps))
                 : whole_s;
    row.cluster_shares.push_back(1 - apart_s / whole_s);
    row.exchange_shares.push_back(1 - sweep_s / apart_s);
  } while (seconds.size() < max_repetitions &&
           std::chrono::duration<double>(Clock::now() - begin).count() < limit_s);
  row.run_s = spread_of(seconds);
  row.variables = problem.objective->space().variables();
  row.couplings = coupling_count(problem);
  return row;
}

Json json_of(const Measured& row) {
  const Spread rate = row.attempts_per_ns();
  const Spread other = spread_of(row.other_shares);
  return {{"instance", row.instance},
          {"backend", row.backend},
          {"threads", row.threads > 0 ? Json(row.threads) : Json(nullptr)},
          {"n", row.variables},
          {"m", row.couplings},
          {"rungs", row.number("rungs")},
          {"ladders", row.number("ladders")},
          {"replicas", row.result.work.replicas},
          {"sweeps", row.result.work.sweeps},
          {"seconds", row.run_s.median},
          {"attempts_per_ns", rate.median},
          {"attempts_per_ns_spread", json_of(rate)},
          {"barrier", row.number("barrier")},
          {"round_trips_per_phase", row.number("round_trip_rate")},
          {"round_trips_predicted", row.number("round_trip_rate_predicted")},
          {"other_share", other.median},
          {"other_share_spread", json_of(other)},
          {"cluster_share", spread_of(row.cluster_shares).median},
          {"exchange_share", spread_of(row.exchange_shares).median},
          {"seed", seed}};
}

std::string cell_of(const Json& number) {
  return number.is_null() ? "-" : three_digits(number.get<double>());
}

std::vector<std::string> cells_of(const Measured& row) {
  return {row.instance,
          row.threads > 0 ? fmt::format("{} thr", row.threads) : row.backend,
          fmt::format("{:.0f}", row.number("rungs").get<double>()),
          fmt::format("{:.0f}", row.number("ladders").get<double>()),
          fmt::format("{}", row.result.work.replicas),
          fmt::format("{}", row.result.work.sweeps),
          three_digits(row.run_s.median),
          three_digits(row.attempts_per_ns().median),
          cell_of(row.number("barrier")),
          cell_of(row.number("round_trip_rate")),
          cell_of(row.number("round_trip_rate_predicted")),
          fmt::format("{:.0f} %", 100 * spread_of(row.cluster_shares).median),
          fmt::format("{:.0f} %", 100 * spread_of(row.exchange_shares).median)};
}

}  // namespace

BenchReport run_tempering_suite(const BenchRun& run) {
  const auto wanted = wanted_rows(run, instances, [](const char* name) { return name; });
  const double limit_s = run.options.time_limit_s / static_cast<double>(wanted.size());
  BenchReport report;
  report.facts = {
      {"method", "run"},
      {"method_text",
       "whole runs of parallel tempering with default options, by the steady clock, "
       "without set-up; each compared with a run of the same sweeps at the same temperatures "
       "without exchanges, and with a run without cluster moves; exchange: share of the latter "
       "that is not sweeps"}};
  report.table = {{"instance", "device", "rungs", "ladders", "replicas", "sweeps", "s",
                   "attempts/ns", "barrier", "trips/phase", "predicted", "clusters", "exchange"}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    run.progress.update(i, wanted.size(), *wanted[i], report);
    report.measure(*wanted[i], [&] {
      const Measured row = measure(run, *wanted[i], limit_s);
      report.rows.push_back(json_of(row));
      report.table.push_back(cells_of(row));
    });
  }
  return report;
}

}  // namespace kiln::cli
