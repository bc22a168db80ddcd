// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "kiln/observer.hpp"
#include "kiln/problem.hpp"

namespace kiln::cli {

/// What the columns of a table of progress are about.
struct ProgressTable {
  bool samples = false;     ///< transitions of chains instead of a search for the best
  std::int64_t warmup = 0;  ///< transitions of a sampler before its draws
  bool front = false;       ///< generations of a population instead, and the volume of its front
  bool few_evaluations = false;  ///< evaluations instead of sweeps, and what the model says
};

/// The table of a run on standard error. A schedule that has notes on its report points
/// (Schedule::annotate) has them as columns instead of mean, acceptance and temperature. On a
/// terminal the last line is live and improvements stay, marked `*`; elsewhere there is a row per
/// improvement, at most two a second, or per five seconds.
///
/// The only place that knows columns and colours. update() comes from the run, note() from
/// anywhere.
class Progress {
 public:
  /// @param shown  false: nothing is ever printed.
  Progress(const Problem& problem, bool shown, const ProgressTable& table = {});
  /// Ends a live line that an error left: what is printed next begins a line of its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const ReportPoint& point);
  /// A line of its own between the rows.
  void note(const std::string& line);
  /// Ends the table: what was held back is printed.
  void finish();

 private:
  enum class Row { live, kept };
  std::string header(const ReportPoint& point) const;
  std::string row_of(const ReportPoint& point, bool improved) const;
  std::string sampling_row_of(const ReportPoint& point) const;
  std::string noted_row_of(const ReportPoint& point, bool improved) const;
  std::string evaluation_row_of(const ReportPoint& point, bool improved) const;
  std::string gap_of(const ReportPoint& point) const;
  std::string front_row_of(const ReportPoint& point, bool improved) const;
  void print(const ReportPoint& point, Row row);
  void erase_live_line();

  std::mutex mutex_;
  bool shown_, integral_, maximize_;
  std::optional<double> best_known_;
  ProgressTable table_;
  std::string heading_;  // of the column of best values
  double variables_;
  bool live_ = false;  // the last line may be rewritten
  bool colors_ = false;
  bool header_due_ = true;
  bool live_line_ = false;  // there is one now
  bool improved_ = false;   // since the last row that was kept
  bool printed_ = true;     // the newest point stands in the table
  double kept_s_ = -1e9;
  double improved_s_ = -1e9;
  ReportPoint newest_;
};

}  // namespace kiln::cli
