// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "kiln/observer.hpp"
#include "kiln/problem.hpp"

#include "run/remaining_time.hpp"

namespace kiln::cli {

/// What the columns of a table of progress are about.
struct ProgressTable {
  bool samples = false;          ///< transitions of chains instead of a search for the best
  std::int64_t warmup = 0;       ///< transitions of a sampler before its draws
  bool front = false;            ///< steps of a population instead, and the volume of its front
  bool few_evaluations = false;  ///< evaluations instead of sweeps, and what the model says
  bool expensive = false;        ///< an evaluation may take hours
  std::int64_t together = 1;     ///< expensive evaluations that the first batch has
  std::optional<std::int64_t> batches = {};  ///< of expensive evaluations, that a run ends with
  std::optional<double> time_limit_s = {};
  std::string step = "sweep";  ///< what a step of the schedule is called
};

/// The table of a run on standard error. A schedule that has notes on its report points
/// (Schedule::annotate) has them as columns instead of mean, acceptance and temperature. On a
/// terminal the last line is live and improvements stay, marked `*`; elsewhere there is a row per
/// improvement, at most two a second, or per five seconds. On a narrow terminal rows leave columns
/// out. Where evaluations are expensive the live
/// line follows the clock and counts them, from the first one on.
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

  /// The run begins: evaluations that are expensive are under way.
  void begin();
  /// One of them has its value.
  void evaluated();
  void update(const ReportPoint& point);
  /// A line of its own between the rows.
  void note(const std::string& line);
  /// Ends the table: what was held back is printed.
  /// @param best  of a search, the value as the host computed it anew: the last row shows that
  void finish(std::optional<double> best = {});

 private:
  enum class Row { live, kept };
  std::string header(const ReportPoint& point) const;
  std::string row_of(const ReportPoint& point, bool improved) const;
  std::string sampling_row_of(const ReportPoint& point) const;
  std::string noted_row_of(const ReportPoint& point, bool improved) const;
  std::string evaluation_row_of(const ReportPoint& point, bool improved) const;
  std::string gap_of(const ReportPoint& point, int width) const;
  std::string gap_behind(const ReportPoint& point) const;
  std::string shown_value(double best) const;
  std::size_t columns() const;
  std::string front_row_of(const ReportPoint& point, bool improved) const;
  void print(const ReportPoint& point, Row row);
  void print_live(std::string text);
  void print_header(const ReportPoint& point);
  void erase_live_line();
  double left_s(const ReportPoint& point);
  std::string first_row() const;
  ReportPoint newest_by_now() const;
  void follow_clock(const std::stop_token& stop);

  std::mutex mutex_;
  bool shown_, integral_, maximize_;
  std::optional<double> best_known_;
  ProgressTable table_;
  std::string heading_;  // of the column of best values
  double variables_;
  bool live_ = false;  // the last line may be rewritten
  bool colors_ = false;
  bool header_due_ = true;
  std::string header_;      // as it was printed last
  bool live_line_ = false;  // there is one now
  bool rows_kept_ = false;  // below the header
  bool improved_ = false;   // since the last row that was kept
  bool printed_ = true;     // the newest point stands in the table
  double kept_s_ = -1e9;
  double improved_s_ = -1e9;
  ReportPoint newest_;
  bool reported_ = false;             // newest_ is one
  std::int64_t evaluated_since_ = 0;  // newest_, or since the run began
  std::chrono::steady_clock::time_point newest_at_;
  RemainingTime remaining_;
  std::condition_variable_any ended_;
  std::jthread clock_;  // last: it ends before what it uses
};

}  // namespace kiln::cli
