// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kiln/observer.hpp"

#include "output/alerts.hpp"

namespace kiln::cli {

/// The labels of all metrics of a run.
struct MetricLabels {
  std::string problem, schedule, device;
  std::uint64_t seed = 1;
};

/// What the metrics of a run show at one moment.
struct MetricReading {
  ReportPoint point;
  std::optional<double> best;         ///< objective value; nothing before the first one
  std::optional<double> best_known;   ///< objective value
  double improved_s = 0;              ///< time of the run at its last improvement
  std::uint64_t nonfinite = 0;        ///< trial energies so far that were NaN or infinite
  std::map<AlertCode, Alert> alerts;  ///< that are raised now
  std::string stop;                   ///< reason of the end; "": the run goes on
  std::set<std::string> quantities;   ///< of the point, that the schedule has: report_quantities()
};

/// The metrics as text that parsers of Prometheus (0.0.4) and of OpenMetrics (1.0.0) accept. The
/// two name counters differently, so counts are gauges.
std::string metrics_text(const MetricLabels& labels, const MetricReading& reading);

/// Whether a text begins as metrics_text() does.
bool is_metrics_text(std::string_view text);

/// A file of metrics that is replaced as a whole, at most once a second.
class MetricsFile {
 public:
  MetricsFile(std::string path, MetricLabels labels);

  /// Whether the last writing is a second ago.
  bool is_due() const;
  /// Replaces the file. Returns a warning for the first of several failures in a row, else "".
  std::string write(const MetricReading& reading);

 private:
  std::string path_;
  MetricLabels labels_;
  bool failing_ = false;
  std::optional<std::chrono::steady_clock::time_point> written_;
};

}  // namespace kiln::cli
