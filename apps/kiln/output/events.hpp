// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

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
  /// Begins with `start`, and a `warning` if a GPU was not used.
  Events(const RunFacts& facts, GrowingFile& file);

  /// An `improvement` if there is one, else a `progress` once per five seconds.
  void update(const ReportPoint& point);
  /// An `alert` that is raised, or an `alert_end`.
  void alert(const AlertChange& change, double time_s);
  /// Ends with `stop`.
  /// @param line  that says how the run ended, "" if there is none
  void finish(const Result& result, const std::string& line);

 private:
  void add(double time_s, const char* event, const nlohmann::ordered_json& more);
  nlohmann::ordered_json value_of(double value) const;

  bool integral_;
  double newest_s_ = 0;  // of improvement or progress
  GrowingFile& file_;
};

}  // namespace kiln::cli
