// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kiln/errors.hpp"

#include "errors.hpp"
#include "output/console.hpp"
#include "output/live_row.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

const RowFigure launch_time{{"kernel", "shape"}, {"replicas"}, "/microseconds/median", "us"};
const RowFigure run_rate{{"instance"}, {"sweeps"}, "/attempts_per_ns", "attempts/ns", true};
const RowFigure batch_rate{{"instance"}, {"replicas"}, "/attempts_per_ns", "attempts/ns", true};
const RowFigure tick_time{{"case"}, {"replicas"}, "/microseconds_per_sweep", "us per sweep"};
const RowFigure executor_time{
    {"case", "executor"}, {"replicas"}, "/microseconds_per_tick/median", "us a tick"};
const RowFigure epoch_ratio{{"case"}, {"replicas", "sweeps"}, "/ratio/median", "on/off"};
const RowFigure api_ratio{{"case"}, {"replicas"}, "/ratio/median", "API/direct"};
const RowFigure anneal_rate{
    {"instance"}, {"groups", "replicas", "anneals"}, "/schedules_per_s", "schedules/s", true};
const RowFigure answer_time{
    {"case", "executor"}, {"replicas"}, "/answered_microseconds/median", "us"};
const RowFigure run_time{{"device"}, {"replicas", "sweeps"}, "/microseconds/median", "us"};
const RowFigure row_time{{"case"}, {"replicas", "sweeps"}, "/seconds/median", "s"};
const RowFigure target_time{{"instance"}, {"schedule", "seeds"}, "/median_s", "median s", false,
                            "limit_s"};
const RowFigure draw_rate{
    {"case"}, {"chains", "warmup", "draws"}, "/effective_draws_per_s", "effective draws/s", true};
const RowFigure generation_rate{
    {"case"}, {"islands", "population"}, "/generations_per_s", "generations/s", true};
const RowFigure iteration_time{
    {"case"}, {"evaluations", "batch"}, "/milliseconds", "ms per iteration"};
const RowFigure product_time{{"case"}, {"n"}, "/seconds/median", "s"};
const RowFigure forecast_score{{"family", "model"}, {"runs", "sweeps"}, "/crps", "CRPS"};
const RowFigure call_time{{"case"}, {"points", "surrogates"}, "/seconds/median", "s a call"};

}  // namespace

const std::vector<Suite>& suites() {
  static const std::vector<Suite> all{
      {"kernels", "device time of each kernel, compared with the limit of the device",
       run_kernels_suite, launch_time},
      {"ticks", "launches of one tick of each schedule, and their time with nothing to do",
       run_ticks_suite, tick_time},
      {"executors", "whole runs by each executor: time of a tick, launches of the host",
       run_executors_suite, executor_time},
      {"commands", "runs that are told something: time until they obey, a million commands",
       run_commands_suite, answer_time},
      {"telemetry", "what epochs, incumbents and records cost a run; whole records of the ring",
       run_telemetry_suite, epoch_ratio},
      {"api", "what a run through the interface costs beside its kernels, launched by hand",
       run_api_suite, api_ratio},
      {"sweep", "attempted updates per nanosecond of whole annealing runs on named instances",
       run_sweep_suite, run_rate},
      {"scaling", "the same rate against the number of replicas and of threads", run_scaling_suite,
       batch_rate},
      {"schedules", "4096 small anneals at once, each with its own options: anneals per second",
       run_schedules_suite, anneal_rate},
      {"latency", "whole runs of a QUBO of 64 bits: set-up, ticks, result, allocations",
       run_latency_suite, run_time},
      {"targets", "the figures that Kiln was first asked for, each beside its goal",
       run_original_targets_suite, row_time},
      {"tempering", "whole runs of parallel tempering: barrier, round trips, time outside sweeps",
       run_tempering_suite, run_rate},
      {"time-to-target", "default runs to the best known value: times of 20 seeds, success rate",
       run_target_suite, target_time},
      {"sampling", "whole sampling runs of posteriors: gradients and effective draws per second",
       run_sampling_suite, draw_rate},
      {"pareto", "whole multi-objective runs: hypervolume, generations per second, constraints",
       run_pareto_suite, generation_rate},
      {"bayes", "Bayesian optimisation: best values, time per iteration, data hard to model",
       run_bayes_suite, iteration_time},
      {"information", "estimates by nearest neighbours: device time of an estimate, whole calls",
       run_information_suite, call_time},
      {"products", "matrix products by contract and path, beside cuBLAS; --check counts misses",
       run_products_suite, product_time},
      {"forecast", "where runs end, forecast by each model: coverage of bands, score, the choice",
       run_forecast_suite, forecast_score},
  };
  return all;
}

const Suite& find_suite(const std::string& name) {
  std::vector<std::string> names;
  for (const Suite& suite : suites()) {
    if (suite.name == name) return suite;
    names.push_back(suite.name);
  }
  throw InvalidArgument("cli.unknown",
                        fmt::format("unknown suite '{}'{}", clean(name), nearest_hint(name, names)),
                        fmt::format("available: {}", fmt::join(names, ", ")), "kiln list suites");
}

void refuse_empty_selection(const BenchOptions& options, const std::vector<std::string>& rows) {
  throw InvalidArgument("cli.range",
                        fmt::format("--only {} selects nothing{}", clean(options.only),
                                    nearest_hint(options.only, rows)),
                        "", "give a part of the name of a row, or leave --only out");
}

BenchProgress::BenchProgress(bool shown) : shown_(shown), live_(has_live_row()) {}

BenchProgress::~BenchProgress() { erase_live_row(); }

void BenchProgress::update(std::size_t done, std::size_t of, const std::string& name,
                           const BenchReport& report) {
  const std::string text = fmt::format("measuring {:>2} of {}: {}", done + 1, of, name);
  const std::lock_guard lock(mutex_);  // also while it prints: end() separates rows and lines
  if (has_ended_) return;
  report_ = report;
  measuring_ = fmt::format("measuring {} of {}: {}", done + 1, of, name);
  if (!shown_) return;
  if (live_) return show_live_row(text);
  print_row(text + "\n");
}

BenchReport BenchProgress::end() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  return report_;
}

std::string BenchProgress::measuring() const {
  const std::lock_guard lock(mutex_);
  return measuring_;
}

RunOptions run_options(const BenchRun& run, std::int64_t replicas) {
  const DeviceInfo info = run.backend.backend->info();
  RunOptions options;
  options.device = info.name;
  options.threads = run.on_cpu() ? info.parallel_units : 0;
  options.replicas = replicas;
  options.seed = run_seed;
  return options;
}

std::int64_t coupling_count(const Problem& problem) {
  for (const auto& [name, count] : problem.identity.sizes) {
    if (name != "n") return std::stoll(count);
  }
  return 0;
}

void require_verified(const Result& result) {
  if (result.verified) return;
  if (!result.feasible()) {
    throw ObjectiveError("result.infeasible",
                         result.problem + ": the best state does not meet the constraints");
  }
  throw SelfCheckError("check.mismatch",
                       result.problem +
                           ": the best state has a value on the CPU that differs from the value "
                           "that the run reports",
                       "Kiln gives no figure for a wrong run.", "please report this");
}

nlohmann::ordered_json json_of(const Spread& spread) {
  return {{"median", spread.median},
          {"min", spread.min},
          {"lower_quartile", spread.lower_quartile},
          {"upper_quartile", spread.upper_quartile},
          {"max", spread.max},
          {"count", spread.count}};
}

nlohmann::ordered_json json_of(const Latency& latency) {
  return {{"median", 1e6 * latency.median_s}, {"p99", 1e6 * latency.p99_s}};
}

std::string latency_text(const Latency& latency) {
  return fmt::format("{} / {}", three_digits(1e6 * latency.median_s),
                     three_digits(1e6 * latency.p99_s));
}

std::string three_digits(double value) {
  if (!(value > 0)) return "0";
  const int decimals = 2 - static_cast<int>(std::floor(std::log10(value)));
  return fmt::format("{:.{}f}", value, std::clamp(decimals, 0, 6));
}

std::string quartiles_text(const Spread& spread) {
  return three_digits(spread.lower_quartile) + " .. " + three_digits(spread.upper_quartile);
}

}  // namespace kiln::cli
