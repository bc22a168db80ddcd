// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::cli {

using EventJson = nlohmann::ordered_json;

/// One line of events.ndjson; nothing where it is no event, or has a time that no run has. What is
/// nested deeper than events are is left out.
std::optional<EventJson> parse_event(std::string_view line);

/// What an event has under a name; nothing where that is absent or of another type. Texts are made
/// harmless, and cut after 200 characters.
std::optional<double> number_of(const EventJson& json, std::string_view name);
std::string text_of(const EventJson& json, std::string_view name);
/// A number as it stands there, "13359" or "0.25".
std::string value_of(const EventJson& json, std::string_view name);

/// The newest row of trace.csv, with the rate over the rows before it.
struct TracePoint {
  double time_s = 0, sweeps = 0;
  std::optional<double> best, mean, acceptance_rate, beta, attempts_per_s;
};
/// @param first, last  rows as they stand in the file; nothing where `last` is no row
std::optional<TracePoint> trace_point(std::string_view first, std::string_view last);

/// A run as its files describe it, built from events one by one.
struct WatchedRun {
  struct Improvement {
    double time_s = 0;
    std::string text;
    std::optional<double> value;
  };
  struct RaisedAlert {
    double time_s = 0;
    std::string message, fix;
  };
  struct Stop {
    double time_s = 0;
    std::string reason;  ///< "time_limit"
    std::string line;    ///< "done   time limit after 10.0 s ...", or ""
    bool verified = false;
  };

  bool started = false;
  std::string problem, schedule, device, objective, sense, verb, step, host;
  std::string replicas, best_known_text, target;
  std::optional<std::uint64_t> seed;
  std::optional<double> best_known, time_limit_s, warmup, variables;
  /// Names of the numbers that the schedule has; nothing in runs of older versions.
  std::optional<std::set<std::string>> quantities;

  double time_s = 0;  ///< of the newest event or row
  double sweeps = 0;
  std::string best;  ///< "" before the first value
  std::optional<double> best_value, mean, acceptance_rate, beta, attempts_per_s;
  /// Time until the limit as the run estimated it, and when.
  std::optional<double> left_s;
  double left_at_s = 0;
  std::vector<std::pair<std::string, double>> notes;  ///< further numbers of the newest event
  std::deque<Improvement> improvements;               ///< the last five
  std::int64_t improvement_count = 0;
  std::map<std::string, RaisedAlert> alerts;  ///< that are raised now, by code
  std::string warning;                        ///< the newest one
  bool paused = false;                        ///< by a command
  std::optional<double> checkpoint_s;         ///< time of the run at the newest one
  std::optional<Stop> stop;
  std::int64_t unreadable_lines = 0;

  void apply(const EventJson& event);
  void apply(const TracePoint& point);
  bool samples() const { return verb == "sample"; }
  /// Whether the schedule has a number of this name: "mean", "acceptance_rate", "beta",
  /// "attempts_per_ns".
  bool has(const std::string& name) const { return !quantities || quantities->contains(name); }
  /// Distance from the best known value as the progress table has it: "0.052%", or "".
  std::string gap() const;
  /// Time until the limit when the run is `elapsed_s` old; nothing where it is not known.
  std::optional<double> time_left_s(double elapsed_s) const;

 private:
  void start(const EventJson& event);
  void resume(const EventJson& event);
  void progress(const EventJson& event, bool improved);
  void keep_quantities();

  bool noted_ = false;  // the schedule has notes on its report points
};

}  // namespace kiln::cli
