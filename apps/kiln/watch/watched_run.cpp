// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "watch/watched_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr int max_depth = 8;
constexpr std::size_t max_text = 200;
constexpr std::size_t kept_improvements = 5;
constexpr std::size_t max_notes = 8;
constexpr std::size_t max_alerts = 16;
constexpr double longest_s = 1e10;  // three centuries: no run has such a time

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = row.find(',');
    cells.push_back(row.substr(0, end));
    row.remove_prefix(end == std::string_view::npos ? row.size() : end + 1);
  }
  return cells;
}

std::optional<double> finite_in(std::string_view text) {
  const std::optional<double> number = number_in(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

bool is_time(double seconds) { return seconds >= 0 && seconds <= longest_s; }

// A time or a duration.
std::optional<double> seconds_of(const EventJson& json, std::string_view name) {
  const std::optional<double> seconds = number_of(json, name);
  return seconds && is_time(*seconds) ? seconds : std::nullopt;
}

// Fields of an event `progress` that the panel shows in separate columns.
bool is_known(const std::string& name) {
  static constexpr std::array known{"time_s",     "event",           "sweeps", "best",
                                    "mean",       "acceptance_rate", "beta",   "attempts_per_ns",
                                    "time_left_s"};
  return std::ranges::find(known, name) != known.end();
}

// A text from a file for a line of the screen.
std::string shown(const std::string& text) {
  std::string line = clean(text);
  if (line.size() <= max_text) return line;
  std::size_t end = max_text;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return line.substr(0, end) + "...";
}

}  // namespace

std::optional<EventJson> parse_event(std::string_view line) {
  const auto shallow = [](int depth, EventJson::parse_event_t, EventJson&) {
    return depth <= max_depth;
  };
  EventJson json = EventJson::parse(line, shallow, false);
  if (!json.is_object() || !json.contains("event") || !json["event"].is_string()) {
    return std::nullopt;
  }
  const auto time = json.find("time_s");
  if (time != json.end() && time->is_number() && !is_time(time->get<double>())) return std::nullopt;
  return json;
}

std::optional<double> number_of(const EventJson& json, std::string_view name) {
  const auto at = json.find(name);
  if (at == json.end() || !at->is_number()) return std::nullopt;
  const double number = at->get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::string text_of(const EventJson& json, std::string_view name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_string() ? shown(at->get<std::string>()) : std::string{};
}

std::string value_of(const EventJson& json, std::string_view name) {
  const auto at = json.find(name);
  if (at == json.end() || !at->is_number()) return {};
  return at->is_number_float() ? human_value(at->get<double>(), false) : at->dump();
}

std::optional<TracePoint> trace_point(std::string_view first, std::string_view last) {
  const std::vector<std::string_view> cells = cells_of(last), before = cells_of(first);
  constexpr std::size_t columns = 8;
  if (cells.size() != columns) return std::nullopt;
  const std::optional<double> time = finite_in(cells[0]), sweeps = finite_in(cells[1]);
  const std::optional<double> attempts = finite_in(cells[2]);
  if (!time || !is_time(*time) || !sweeps || !attempts) return std::nullopt;
  TracePoint point{*time,
                   *sweeps,
                   finite_in(cells[3]),
                   finite_in(cells[4]),
                   finite_in(cells[5]),
                   finite_in(cells[6]),
                   std::nullopt};
  if (const auto rate = finite_in(cells[7])) point.attempts_per_s = 1e9 * *rate;
  if (before.size() != columns) return point;
  const std::optional<double> time_0 = finite_in(before[0]), attempts_0 = finite_in(before[2]);
  if (!time_0 || !attempts_0 || !(*time > *time_0)) return point;
  point.attempts_per_s = (*attempts - *attempts_0) / (*time - *time_0);
  return point;
}

void WatchedRun::start(const EventJson& event) {
  started = true;
  problem = text_of(event, "problem");
  schedule = text_of(event, "schedule");
  device = text_of(event, "device");
  objective = text_of(event, "objective");
  sense = text_of(event, "sense");
  verb = text_of(event, "verb");
  step = text_of(event, "step");
  host = text_of(event, "host");
  if (const auto at = event.find("seed"); at != event.end() && at->is_number_unsigned()) {
    seed = at->get<std::uint64_t>();
  }
  replicas = value_of(event, "replicas");
  best_known = number_of(event, "best_known");
  best_known_text = value_of(event, "best_known");
  warmup = number_of(event, "warmup");
  variables = number_of(event, "variables");
  quantities.reset();
  if (const auto at = event.find("quantities"); at != event.end() && at->is_array()) {
    quantities.emplace();
    for (const EventJson& name : *at) {
      if (name.is_string()) quantities->insert(name.get<std::string>());
    }
  }
  const auto limits = event.find("limits");
  if (limits == event.end() || !limits->is_object()) return;
  time_limit_s = seconds_of(*limits, "time_s");
  target = value_of(*limits, "target");
}

void WatchedRun::progress(const EventJson& event, bool improved) {
  sweeps = number_of(event, "sweeps").value_or(sweeps);
  if (const std::string value = value_of(event, "best"); !value.empty()) {
    best = value;
    best_value = number_of(event, "best");
  }
  mean = number_of(event, "mean");
  acceptance_rate = number_of(event, "acceptance_rate");
  beta = number_of(event, "beta");
  if (const auto rate = number_of(event, "attempts_per_ns")) attempts_per_s = 1e9 * *rate;
  left_s = seconds_of(event, "time_left_s");
  left_at_s = time_s;
  notes.clear();
  noted_ = false;
  for (const auto& [name, value] : event.items()) {
    if (is_known(name)) continue;
    noted_ = true;  // a number that is not known is null
    if (!value.is_number() || notes.size() == max_notes) continue;
    notes.emplace_back(shown(name), value.get<double>());
  }
  keep_quantities();
  if (!improved) return;
  ++improvement_count;
  improvements.push_front({time_s, best, best_value});
  if (improvements.size() > kept_improvements) improvements.pop_back();
}

// A row of the trace has all numbers, also those that the schedule has not. A schedule with notes
// has these in their place, as in the table of progress.
void WatchedRun::keep_quantities() {
  if (noted_ || !has("mean")) mean.reset();
  if (noted_ || !has("acceptance_rate")) acceptance_rate.reset();
  if (noted_ || !has("beta")) beta.reset();
}

// Another process, perhaps on another machine, with other limits.
void WatchedRun::resume(const EventJson& event) {
  stop.reset();
  paused = false;
  alerts.clear();
  time_limit_s.reset();
  left_s.reset();
  if (const std::string now = text_of(event, "device"); !now.empty()) device = now;
  host = text_of(event, "host");
}

void WatchedRun::apply(const EventJson& event) {
  const std::string kind = text_of(event, "event");
  const double at_s = seconds_of(event, "time_s").value_or(time_s);
  time_s = std::max(time_s, at_s);
  if (kind == "start") return start(event);
  if (kind == "progress" || kind == "improvement") return progress(event, kind == "improvement");
  if (kind == "warning") {
    warning = text_of(event, "message");
  } else if (kind == "alert") {
    if (alerts.size() >= max_alerts) return;
    alerts[text_of(event, "code")] = {at_s, text_of(event, "message"), text_of(event, "fix")};
  } else if (kind == "alert_end") {
    alerts.erase(text_of(event, "code"));
  } else if (kind == "checkpoint") {
    checkpoint_s = at_s;
  } else if (kind == "pause" || kind == "continue") {
    paused = kind == "pause";
    sweeps = number_of(event, "sweeps").value_or(sweeps);
  } else if (kind == "resume") {
    resume(event);
  } else if (kind == "stop") {
    const auto verified = event.find("verified");
    stop = Stop{at_s, text_of(event, "stop"), text_of(event, "line"),
                verified != event.end() && verified->is_boolean() && verified->get<bool>()};
    if (const std::string value = value_of(event, "best"); !value.empty()) {
      best = value;
      best_value = number_of(event, "best");
    }
    sweeps = number_of(event, "sweeps").value_or(sweeps);
  }
}

void WatchedRun::apply(const TracePoint& point) {
  if (point.time_s < time_s) return;
  time_s = point.time_s;
  sweeps = point.sweeps;
  mean = point.mean;
  acceptance_rate = point.acceptance_rate;
  beta = point.beta;
  attempts_per_s = point.attempts_per_s;
  keep_quantities();
}

std::string WatchedRun::gap() const {
  if (!best_known || !best_value) return {};
  const double behind = sense == "maximize" ? *best_known - *best_value : *best_value - *best_known;
  if (*best_known == 0) return fmt::format("{:.2g}", behind);
  return fmt::format("{:.3f} %", 100 * behind / std::abs(*best_known));
}

std::optional<double> WatchedRun::time_left_s(double elapsed_s) const {
  std::optional<double> left;
  if (left_s) left = std::max(0.0, *left_s - (elapsed_s - left_at_s));
  if (time_limit_s) {
    const double until_limit = std::max(0.0, *time_limit_s - elapsed_s);
    left = left ? std::min(*left, until_limit) : until_limit;
  }
  return left;
}

}  // namespace kiln::cli
