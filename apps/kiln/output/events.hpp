// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kiln/observer.hpp"
#include "kiln/result.hpp"

#include "output/alerts.hpp"
#include "output/atomic_file.hpp"
#include "output/solve_text.hpp"

namespace kiln::cli {

/// The lines of events.ndjson, written as they come: one object each, with the seconds since the
/// run began and what happened then.
class Events {
 public:
  Events(const RunFacts& facts, GrowingFile& file);

  /// `start`, and a `warning` if a GPU was not used.
  void start();
  /// The run continues from a checkpoint at this time.
  void resume(double time_s, std::uint64_t sweeps);
  void checkpoint(double time_s, std::int64_t sweeps, std::uint64_t bytes, double seconds);
  void warning(double time_s, const std::string& code, const std::string& message);

  /// An `improvement` if there is one, else a `progress` once per five seconds. Before that a
  /// `pause` or a `continue` where a command pauses the run or lets it go on.
  void update(const ReportPoint& point);
  /// An `alert` that is raised, or an `alert_end`.
  void alert(const AlertChange& change, double time_s);
  /// Ends with `stop`.
  /// @param line  that says how the run ended, "" if there is none
  void finish(const Result& result, const std::string& line);

 private:
  void add(double time_s, const char* event, const nlohmann::ordered_json& more);
  nlohmann::ordered_json value_of(double value) const;

  const RunFacts& facts_;
  bool integral_;
  std::vector<std::string> quantities_;  // of report points, that the schedule has
  double newest_s_ = 0;                  // of improvement or progress
  bool paused_ = false;
  GrowingFile& file_;
};

}  // namespace kiln::cli
