// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench latency: what a run of a very small problem costs beside its ticks.
#include <fmt/format.h>

#include <algorithm>

#include "kiln/engine.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* instance = "palubeckis:64,50,1";  // a QUBO
constexpr std::int64_t replicas = 1024, default_sweeps = 100;
constexpr std::int64_t max_runs = 1000, min_runs = 10;

struct Measured {
  std::string device;
  int threads = 0;  ///< 0 on a GPU
  std::int64_t sweeps = 0, runs = 0;
  Latency setup, ticks, result, all, beside_ticks;
  std::uint64_t first_driver_calls = 0,
                driver_calls = 0;  ///< for device memory: of the first run; most of a later one
};

/// Runs of one engine, one after the other.
Measured measure(const BenchRun& run, const std::string& device, double limit_s) {
  const Problem problem = make_instance(instance);
  RunOptions options;
  options.device = device;
  options.threads = run.options.threads;
  options.replicas = replicas;
  options.seed = run_seed;
  Engine engine(options);
  const DeviceInfo info = engine.backend().backend->info();
  Measured row{info.name, info.gpu ? 0 : info.parallel_units, {}, {}, {}, {}, {}, {}, {}, 0, 0};
  row.sweeps = run.options.sweeps.value_or(default_sweeps);
  std::vector<double> setup, ticks, result, all, beside;
  repeat({min_runs + 1, max_runs + 1, limit_s}, [&](std::int64_t number) {
    const Stopwatch whole;
    SimulatedAnnealing schedule;
    const Result one = engine.run(problem, schedule, {.sweeps = row.sweeps});
    const double whole_s = whole.seconds();
    require_verified(one);
    if (number == 0) {  // loads code and wakes the device: not among the figures
      row.first_driver_calls = one.memory.arena.driver_calls;
      return;
    }
    ++row.runs;
    row.driver_calls = std::max(row.driver_calls, one.memory.arena.driver_calls);
    setup.push_back(one.time.setup_s);
    ticks.push_back(one.time.run_s);
    result.push_back(std::max(0.0, whole_s - one.time.setup_s - one.time.run_s));
    all.push_back(whole_s);
    beside.push_back(whole_s - one.time.run_s);
  });
  row.setup = latency_of(setup);
  row.ticks = latency_of(ticks);
  row.result = latency_of(result);
  row.all = latency_of(all);
  row.beside_ticks = latency_of(beside);
  return row;
}

Json json_of(const Measured& row) {
  return {{"case", row.threads > 0 ? "cpu" : "cuda"},
          {"instance", instance},
          {"device", row.device},
          {"backend", row.threads > 0 ? "cpu" : "cuda"},
          {"threads", row.threads > 0 ? Json(row.threads) : Json(nullptr)},
          {"replicas", replicas},
          {"sweeps", row.sweeps},
          {"runs", row.runs},
          {"setup_microseconds", json_of(row.setup)},
          {"ticks_microseconds", json_of(row.ticks)},
          {"result_microseconds", json_of(row.result)},
          {"microseconds", json_of(row.all)},
          {"beside_ticks_microseconds", json_of(row.beside_ticks)},
          {"driver_calls_of_first_run", row.first_driver_calls},
          {"driver_calls_of_a_run", row.driver_calls},
          {"seed", run_seed}};
}

std::vector<std::string> cells_of(const Measured& row) {
  return {row.device,
          fmt::format("{}", row.runs),
          latency_text(row.setup),
          latency_text(row.ticks),
          latency_text(row.result),
          latency_text(row.all),
          fmt::format("{}", row.driver_calls)};
}

}  // namespace

BenchReport run_latency_suite(const BenchRun& run) {
  std::vector<std::string> devices{run.backend.backend->info().name};
  if (!run.on_cpu()) devices.emplace_back("cpu");
  BenchReport report;
  report.facts = {
      {"method", "run"},
      {"method_text",
       "whole runs of a QUBO of 64 bits by the steady clock, one after the other in one "
       "engine; the first is not counted"}};
  report.table = {
      {"device", "runs", "set-up us", "ticks us", "result us", "all us", "driver calls"}};
  report.notes.emplace_back(
      "median / 99th percentile; driver calls: for device memory, the most of one run after the "
      "first");
  const auto name_of = [](const std::string& name) { return name; };
  measure_rows(run, devices, name_of, report, [&](const std::string& device, double limit_s) {
    const Measured row = measure(run, device, limit_s);
    report.rows.push_back(json_of(row));
    report.table.push_back(cells_of(row));
  });
  return report;
}

}  // namespace kiln::cli
