// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench scaling: the rate of annealing runs against the number of replicas and of threads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/registry.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// One with few neighbours for each variable, one with all.
constexpr std::array<const char*, 2> instances{"torus:50x40,1", "k2000"};
constexpr std::int64_t fewest_replicas = 32;
constexpr std::int64_t max_replicas = std::int64_t{1} << 20;
constexpr std::int64_t quick_max_replicas = 64;
constexpr int max_repetitions = 5;
constexpr std::int64_t warm_up_sweeps = 4, min_sweeps = 4, max_sweeps = 1000;
constexpr double saturated_share = 0.9;  // of the best rate
constexpr std::uint64_t seed = 1;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Measured {
  std::int64_t replicas = 0, sweeps = 0;
  Spread run_s;
  double attempts = 0;
  double shortest_s = 0;  ///< of the shortest run with its set-up

  Spread rate() const { return rate_of(attempts * 1e-9, run_s); }
  double microseconds_per_sweep() const { return run_s.median * 1e6 / static_cast<double>(sweeps); }
};

/// The rates of one instance on one number of threads, by rising numbers of replicas.
struct Series {
  std::string instance;
  int threads = 0;  ///< 0 on a GPU
  std::int64_t default_replicas = 0;
  std::vector<Measured> rows = {};
  std::string end = {};  ///< why no row follows; "" while one may

  std::vector<double> rates() const {
    std::vector<double> all;
    for (const Measured& row : rows) all.push_back(row.rate().median);
    return all;
  }
  double best_rate() const { return std::ranges::max(rates()); }
  double share(const Measured& row) const { return row.rate().median / best_rate(); }
  /// The fewest replicas with 90 % of the best rate.
  std::optional<std::int64_t> saturated_replicas() const {
    const std::optional<std::size_t> at = saturated_at(rates(), saturated_share);
    return at ? std::optional(rows[*at].replicas) : std::nullopt;
  }
};

std::string device_of(const Series& series) {
  return series.threads > 0 ? fmt::format("{} thr", series.threads) : "cuda";
}

/// Runs of simulated annealing on one instance with one number of threads.
class Runner {
 public:
  Runner(const BenchRun& run, const Problem& problem, int threads) : problem_(problem) {
    options_.device = run.backend.backend->info().name;
    options_.threads = threads;
    options_.seed = seed;
    given_sweeps_ = run.options.sweeps;
  }

  std::int64_t default_replicas() { return one_run(0, warm_up_sweeps).work.replicas; }

  /// @param limit_s  of runs and their set-up; one run is made in any case
  Measured measure(std::int64_t replicas, double limit_s) {
    const auto begin = Clock::now();
    const Result first = one_run(replicas, warm_up_sweeps);
    const double first_s = seconds_since(begin);
    Measured row{replicas, sweeps_for(first, limit_s - first_s), {}, 0, first_s};
    std::vector<double> seconds;
    do {
      const Result result = one_run(replicas, row.sweeps);
      row.attempts = result.work.attempts;
      seconds.push_back(result.time.run_s);
    } while (seconds.size() < max_repetitions && seconds_since(begin) < limit_s);
    row.run_s = spread_of(seconds);
    return row;
  }

 private:
  // So many that three runs take what is left.
  std::int64_t sweeps_for(const Result& first, double left_s) const {
    if (given_sweeps_) return *given_sweeps_;
    const double sweep_s = first.time.run_s / static_cast<double>(warm_up_sweeps);
    const double wanted = left_s / 3 / std::max(sweep_s, 1e-9);
    return static_cast<std::int64_t>(
        std::clamp(wanted, static_cast<double>(min_sweeps), static_cast<double>(max_sweeps)));
  }

  Result one_run(std::int64_t replicas, std::int64_t sweeps) {
    options_.replicas = replicas;
    const auto schedule = registry_.schedule("simulated-annealing").make({});
    Result result = Engine(options_).run(problem_, *schedule, {.sweeps = sweeps});
    require_verified(result);
    return result;
  }

  const Problem& problem_;
  Registry registry_ = builtin_registry();
  RunOptions options_;
  std::optional<std::int64_t> given_sweeps_;
};

/// All that was measured, as rows, a table and sentences: made anew with each row, since the best
/// rate of a series is known only at its end.
class ScalingReport {
 public:
  Series& begin(const std::string& instance, int threads) {
    return all_.emplace_back(Series{instance, threads});
  }

  void write(BenchReport& report) const {
    report.rows = Json::array();
    report.table = {
        {"instance", "device", "replicas", "sweeps", "us/sweep", "attempts/ns", "of best"}};
    report.notes = failures_of(report);
    Json saturation = Json::array();
    for (const Series& series : all_) {
      for (const Measured& row : series.rows) {
        report.rows.push_back(json_of(series, row));
        report.table.push_back(cells_of(series, row));
      }
      if (series.rows.empty()) continue;
      saturation.push_back(saturation_of(series));
      if (!series.end.empty()) report.notes.push_back(sentence_of(series));
    }
    report.facts["saturation"] = saturation;
  }

 private:
  static std::vector<std::string> failures_of(const BenchReport& report) {
    std::vector<std::string> notes;
    for (const Json& one : report.failed) {
      notes.push_back(fmt::format("failed: {}: {}", one["row"].get<std::string>(),
                                  one["error"].get<std::string>()));
    }
    return notes;
  }

  static Json json_of(const Series& series, const Measured& row) {
    const Spread rate = row.rate();
    return {{"instance", series.instance},
            {"backend", series.threads > 0 ? "cpu" : "cuda"},
            {"threads", series.threads > 0 ? Json(series.threads) : Json(nullptr)},
            {"replicas", row.replicas},
            {"sweeps", row.sweeps},
            {"seconds", row.run_s.median},
            {"microseconds_per_sweep", row.microseconds_per_sweep()},
            {"attempts_per_ns", rate.median},
            {"attempts_per_ns_spread", kiln::cli::json_of(rate)},
            {"best_share", series.share(row)},
            {"seed", seed}};
  }

  /// The best rate in terms of that of one thread.
  std::optional<double> times_one_thread(const Series& series) const {
    if (series.threads <= 1) return std::nullopt;
    const auto one = std::ranges::find_if(all_, [&](const Series& other) {
      return other.instance == series.instance && other.threads == 1 && !other.rows.empty();
    });
    if (one == all_.end()) return std::nullopt;
    return series.best_rate() / one->best_rate();
  }

  Json saturation_of(const Series& series) const {
    const std::optional<double> times = times_one_thread(series);
    const std::optional<std::int64_t> at = series.saturated_replicas();
    return {{"instance", series.instance},
            {"threads", series.threads > 0 ? Json(series.threads) : Json(nullptr)},
            {"best_attempts_per_ns", series.best_rate()},
            {"times_one_thread", times ? Json(*times) : Json(nullptr)},
            {"replicas", at ? Json(*at) : Json(nullptr)},
            {"max_replicas", series.rows.back().replicas},
            {"default_replicas", series.default_replicas},
            {"end", series.end.empty() ? Json(nullptr) : Json(series.end)}};
  }

  static std::vector<std::string> cells_of(const Series& series, const Measured& row) {
    return {series.instance,
            device_of(series),
            fmt::format("{}", row.replicas),
            fmt::format("{}", row.sweeps),
            three_digits(row.microseconds_per_sweep()),
            three_digits(row.rate().median),
            fmt::format("{:.0f} %", 100 * series.share(row))};
  }

  std::string sentence_of(const Series& series) const {
    const std::optional<std::int64_t> at = series.saturated_replicas();
    const std::string what =
        at ? fmt::format("{} replicas are the fewest with 90 % of the best rate", *at)
           : "no saturation: the largest number of replicas alone has 90 % of the best rate";
    const std::optional<double> times = times_one_thread(series);
    return fmt::format(
        "{}, {}: {} ({} attempts/ns{}). Default: {} replicas. The rows end: {}.", series.instance,
        device_of(series), what, three_digits(series.best_rate()),
        times ? fmt::format(", {} times that of one thread", three_digits(*times)) : "",
        series.default_replicas, series.end);
  }

  std::vector<Series> all_;
};

/// 1, 2, 4, ... and all threads; one number where the user gives it.
std::vector<int> thread_numbers(const BenchRun& run) {
  if (!run.on_cpu()) return {0};
  const int all = run.backend.backend->info().parallel_units;
  std::vector<int> numbers;
  if (run.options.threads == 0) {
    for (int n = 1; n < all; n *= 2) numbers.push_back(n);
  }
  numbers.push_back(all);
  return numbers;
}

/// Measures one series within a time, an equal share of what is left for each row.
class SeriesRun {
 public:
  SeriesRun(const BenchRun& run, double limit_s)
      : limit_s_(limit_s), max_replicas_(run.options.quick ? quick_max_replicas : max_replicas) {}

  static int rows_of(std::int64_t most) {
    int rows = 0;
    for (std::int64_t n = fewest_replicas; n <= most; n *= 2) ++rows;
    return rows;
  }

  /// @param add  is called after each row
  template <class Before, class After>
  void measure(Runner& runner, Series& series, Before before, After after) {
    for (std::int64_t n = fewest_replicas;; n *= 2) {
      series.end = reason_to_end(series, n);
      if (!series.end.empty()) return;
      before(n);
      const double left_s = std::max(0.0, limit_s_ - seconds_since(begin_));
      try {
        series.rows.push_back(
            runner.measure(n, left_s / std::max(1, rows_of(max_replicas_) - rows_of(n / 2))));
      } catch (const Error& error) {
        if (error.code() != "memory.device" && error.code() != "run.memory") throw;
        series.end = fmt::format("{} replicas do not fit into the free memory", n);
        if (series.rows.empty()) throw;
        return;
      }
      after();
    }
  }

 private:
  std::string reason_to_end(const Series& series, std::int64_t replicas) const {
    if (replicas > max_replicas_)
      return fmt::format("the suite measures up to {} replicas", max_replicas_);
    if (series.rows.size() < 2) return "";
    // Two runs, each of them twice as long as that of half as many replicas.
    const double needed_s = 4 * series.rows.back().shortest_s;
    if (seconds_since(begin_) + needed_s <= limit_s_) return "";
    return fmt::format("{} replicas take longer than the time limit leaves", replicas);
  }

  Clock::time_point begin_ = Clock::now();
  double limit_s_;
  std::int64_t max_replicas_;
};

}  // namespace

BenchReport run_scaling_suite(const BenchRun& run) {
  const auto wanted = wanted_rows(run, instances, [](const char* name) { return name; });
  const std::vector<int> threads = thread_numbers(run);
  const std::size_t n_series = wanted.size() * threads.size();
  const double limit_s = run.options.time_limit_s / static_cast<double>(n_series);
  BenchReport report;
  report.facts = {{"method", "run"},
                  {"method_text",
                   "whole runs of simulated annealing by the steady clock, without set-up, with "
                   "rising numbers of replicas and of threads"}};
  ScalingReport all;
  std::size_t done = 0;
  for (const auto* const instance : wanted) {
    const Problem problem = make_instance(*instance);
    for (const int n : threads) {
      report.measure(*instance, [&] {
        Runner runner(run, problem, n);
        Series& series = all.begin(*instance, n);
        series.default_replicas = runner.default_replicas();
        SeriesRun(run, limit_s)
            .measure(
                runner, series,
                [&](std::int64_t replicas) {
                  run.progress.update(
                      done, n_series,
                      fmt::format("{}, {}, {} replicas", *instance, device_of(series), replicas),
                      report);
                },
                [&] { all.write(report); });
      });
      ++done;
      all.write(report);
    }
  }
  return report;
}

}  // namespace kiln::cli
