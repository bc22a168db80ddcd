// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/problem.hpp"
#include "kiln/result.hpp"
#include "kiln/run.hpp"

#include "bench/comparison.hpp"
#include "bench/report.hpp"
#include "bench/statistics.hpp"

namespace kiln::cli {

/// Everything that `kiln bench` was told, judged.
struct BenchOptions {
  std::string device = "auto";
  int threads = 0;
  std::string only;                               ///< rows whose name contains it; "": all
  double time_limit_s = 45;                       ///< about what all measurements together may take
  std::optional<std::int64_t> sweeps;             ///< of each replica, in runs of the engine
  std::string data;                               ///< file with the table of a row that needs one
  std::map<std::string, std::string> parameters;  ///< of the schedule, for all rows of suite bayes
  bool check = false;                             ///< suite products: counts missed contracts
  bool quick = false;                             ///< little of everything, to see that it works
  bool quiet = false;
  std::string compare;      ///< earlier document of the same suite; "": none
  double tolerance = 0.05;  ///< of a comparison: a share of the time

  bool wants(const std::string& row) const { return row.find(only) != std::string::npos; }
};

/// Says on standard error what is being measured: on a terminal in a live line, else line by line;
/// and keeps what was measured before, for a run that is interrupted.
class BenchProgress {
 public:
  explicit BenchProgress(bool shown);
  ~BenchProgress();
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  /// @param report  of the rows before this one
  void update(std::size_t done, std::size_t of, const std::string& name, const BenchReport& report);
  /// The report as the last update() had it, for the thread that ends the program: what the others
  /// measure from now on is not announced.
  BenchReport end();
  /// "measuring 3 of 20: G22"
  std::string measuring() const;

 private:
  bool shown_, live_;
  mutable std::mutex mutex_;
  std::string measuring_ = "setting up";
  BenchReport report_;
  bool has_ended_ = false;
};

/// What a suite works with.
struct BenchRun {
  const BenchOptions& options;
  const OpenedBackend& backend;
  BenchProgress& progress;

  bool wants(const std::string& row) const { return options.wants(row); }
  bool on_cpu() const { return backend.backend->info().name == "cpu"; }
};

/// What whole annealing runs are measured on, from 800 to 20,000 variables.
inline constexpr std::array<const char*, 15> sweep_instances{
    "gset:G1",  "gset:G11",      "gset:G14",   "gset:G22", "gset:G32",
    "gset:G35", "gset:G43",      "gset:G55",   "gset:G63", "gset:G70",
    "gset:G81", "torus:50x40,1", "ea:50x40,1", "k2000",    "palubeckis:p3000.1"};

/// A set of measurements that can be asked for by name.
struct Suite {
  std::string name;
  std::string sentence;
  BenchReport (*run)(const BenchRun&);
  RowFigure figure;  ///< by which its rows are compared
};

/// All suites, in the order of the help.
const std::vector<Suite>& suites();
/// @throws InvalidArgument with the nearest name.
const Suite& find_suite(const std::string& name);

BenchReport run_kernels_suite(const BenchRun&);
BenchReport run_sweep_suite(const BenchRun&);
BenchReport run_scaling_suite(const BenchRun&);
BenchReport run_ticks_suite(const BenchRun&);
BenchReport run_executors_suite(const BenchRun&);
BenchReport run_commands_suite(const BenchRun&);
BenchReport run_telemetry_suite(const BenchRun&);
BenchReport run_api_suite(const BenchRun&);
BenchReport run_schedules_suite(const BenchRun&);
BenchReport run_latency_suite(const BenchRun&);
BenchReport run_original_targets_suite(const BenchRun&);
BenchReport run_tempering_suite(const BenchRun&);
BenchReport run_target_suite(const BenchRun&);
BenchReport run_sampling_suite(const BenchRun&);
BenchReport run_pareto_suite(const BenchRun&);
BenchReport run_bayes_suite(const BenchRun&);
BenchReport run_information_suite(const BenchRun&);
BenchReport run_products_suite(const BenchRun&);
BenchReport run_forecast_suite(const BenchRun&);

/// @throws InvalidArgument: --only selects none of the rows.
[[noreturn]] void refuse_empty_selection(const BenchOptions& options,
                                         const std::vector<std::string>& rows);

/// The rows of a suite that --only selects, or the first of them with --quick.
/// @param name_of  the name of a row
/// @throws InvalidArgument if there is none.
template <class Rows, class NameOf>
auto wanted_rows(const BenchRun& run, const Rows& rows, NameOf name_of) {
  std::vector<typename Rows::const_pointer> wanted;
  std::vector<std::string> names;
  for (const auto& row : rows) {
    names.emplace_back(name_of(row));
    if (run.wants(names.back())) wanted.push_back(&row);
  }
  if (wanted.empty()) refuse_empty_selection(run.options, names);
  if (run.options.quick) wanted.resize(1);
  return wanted;
}

/// Measures the rows that are wanted, each in an equal share of the time limit. What one throws
/// costs no other its figures.
/// @param measure  of a row and its seconds
template <class Rows, class NameOf, class Measure>
void measure_rows(const BenchRun& run, const Rows& rows, NameOf name_of, BenchReport& report,
                  const Measure& measure) {
  const auto wanted = wanted_rows(run, rows, name_of);
  const double limit_s = run.options.time_limit_s / static_cast<double>(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string name(name_of(*wanted[i]));
    run.progress.update(i, wanted.size(), name, report);
    report.measure(name, [&] { measure(*wanted[i], limit_s); });
  }
}

inline constexpr std::uint64_t run_seed = 1;

/// Of runs on the device of the suite, with run_seed. On the CPU with all threads that it was told.
RunOptions run_options(const BenchRun& run, std::int64_t replicas);

/// Edges or couplings, 0 where a problem counts none.
std::int64_t coupling_count(const Problem& problem);

/// A wrong run gives no figure. @throws SelfCheckError
void require_verified(const Result& result);

/// {"median", "min", "lower_quartile", "upper_quartile", "max", "count"}
nlohmann::ordered_json json_of(const Spread& spread);

/// {"median", "p99"}, us
nlohmann::ordered_json json_of(const Latency& latency);

/// "12.1 / 14.3": median and 99th percentile, us.
std::string latency_text(const Latency& latency);

/// Three significant digits: 0.612, 12.3, 4300.
std::string three_digits(double value);

/// "0.612 .. 0.633": the quartiles.
std::string quartiles_text(const Spread& spread);

}  // namespace kiln::cli
