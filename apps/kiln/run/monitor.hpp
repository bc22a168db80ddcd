// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "kiln/backend.hpp"
#include "kiln/observer.hpp"
#include "kiln/result.hpp"
#include "kiln/run.hpp"

#include "output/alerts.hpp"
#include "output/metrics.hpp"
#include "output/solve_text.hpp"
#include "run/host_load.hpp"

namespace kiln::cli {

/// Readings that other parts of the program bring to a report point.
struct MonitorReadings {
  std::optional<SlowdownReadings> hardware = {};
  std::optional<TelemetryReadings> telemetry = {};
};

/// What a monitor tells: a note for the terminal, or a change of an alert for the event log.
struct MonitorSink {
  std::function<void(const std::string& note)> note;
  std::function<void(const AlertChange& change, double time_s)> alert;
};

/// Watches a run at its report points: raises and clears alerts, and writes the file of metrics. It
/// reads what the host has anyway, and never changes the path of the run.
class Monitor {
 public:
  Monitor(const RunFacts& facts, const Backend& backend, MonitorSink sink);

  void update(const ReportPoint& point, const MonitorReadings& readings = {});
  /// Judges what no report point has: of a ladder, the swap rates of the result so far. It looks
  /// when twice the time of the last look is over, so that all looks cost next to nothing.
  void look(Run& run);
  /// Judges the diagnostics of the result, adds each alert of the run to its advice, and writes the
  /// metrics with the reason of the end.
  void finish(Result& result);

 private:
  /// Sums of report points until a rule has judged them.
  struct Window {
    double begin_s = 0, beta_begin = 0;
    double sweeps = 0, attempts = 0, accepted = 0, nonfinite = 0;
    void restart(const ReportPoint& point);
    void add(const ReportPoint& point, const ReportPoint& last);
  };

  void begin(const ReportPoint& point);
  void observe(const ReportPoint& point);
  void judge(AlertCode code, const std::optional<Alert>& verdict);
  void judge_acceptance(const ReportPoint& point);
  void judge_trials(const ReportPoint& point);
  void judge_memory(const ReportPoint& point);
  void judge_host(const ReportPoint& point);
  void judge_swaps(const Result& result);
  void write_metrics(const std::string& stop);

  const Backend& backend_;
  std::shared_ptr<Backend> host_;  // null on the CPU, whose memory is that of the device
  MonitorSink sink_;
  AcceptancePlan plan_;
  double variables_ = 1, replicas_ = 1;
  bool is_searching_;           // and not drawing samples
  bool counts_whole_ = false;   // trials are those of whole states, one for each replica and step
  std::optional<int> threads_;  // on the CPU
  AlertLedger ledger_;
  std::map<AlertCode, std::string> advice_;  // of the first alert of each kind
  std::map<AlertCode, double> told_s_;       // times of the last notes
  AnnealEnd alerted_end_ = AnnealEnd::none;  // while the alert of acceptance is raised
  Window acceptance_, trials_;
  bool begun_ = false;
  double begin_s_ = 0, now_s_ = 0;  // times of the run: of the first report point, and of this one
  ReportPoint last_;
  double memory_s_ = 0, host_s_ = 0;  // times of the last readings
  bool has_ladder_ = false;
  double look_s_ = 0;             // time of the next look at the result so far
  std::optional<HostLoad> load_;  // at host_s_
  MetricReading reading_;
  std::optional<MetricsFile> metrics_;
};

}  // namespace kiln::cli
