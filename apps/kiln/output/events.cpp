// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/events.hpp"

#include <unistd.h>  // gethostname

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "output/report_quantities.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double between_events_s = 5.0;

// By which a reader on another machine knows that it cannot see the process of the run.
std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? clean(name.data()) : std::string{};
}

Json or_null(const auto& optional) { return optional ? Json(*optional) : Json(nullptr); }

// What a view of the run needs to tell how far it is.
Json start_of(const RunFacts& facts) {
  const Problem& problem = facts.loaded.problem;
  const Budget& budget = facts.options.budget;
  Json start = {{"problem", clean(problem.identity.name)},
                {"schedule", facts.options.schedule},
                {"device", clean(facts.device.name)},
                {"objective", clean(problem.units.value_name)},
                {"sense", option_of(problem.units.sense)},
                {"replicas", facts.replicas},
                {"seed", facts.options.run.seed},
                {"verb", facts.options.verb->name},
                {"host", host_name()},
                {"step", facts.step},
                {"variables", problem.objective->space().variables()},
                {"quantities", report_quantities(facts)},
                {"best_known", nullptr},
                {"limits",
                 {{"time_s", or_null(budget.time_limit_s)},
                  {"steps", or_null(budget.sweeps)},
                  {"target", or_null(budget.target)},
                  {"stop_when", budget.stop_when ? Json(budget.stop_when->text()) : Json()}}}};
  const auto warmup = facts.parameters.find("warmup");
  if (warmup != facts.parameters.end() && facts.options.verb->samples) {
    start["warmup"] = or_null(number_in(warmup->second));
  }
  return start;
}

}  // namespace

Events::Events(const RunFacts& facts, GrowingFile& file)
    : facts_(facts),
      integral_(facts.loaded.problem.units.integral),
      quantities_(report_quantities(facts)),
      file_(file) {}

void Events::start() {
  Json start = start_of(facts_);
  const std::optional<double>& best_known = facts_.loaded.problem.known.best;
  if (best_known) start["best_known"] = value_of(*best_known);
  add(0, "start", start);
  if (!facts_.fallback_reason.empty()) warning(0, "device.fallback", facts_.fallback_reason);
}

void Events::resume(double time_s, std::uint64_t sweeps) {
  newest_s_ = time_s;
  add(time_s, "resume",
      {{"sweeps", sweeps}, {"device", clean(facts_.device.name)}, {"host", host_name()}});
}

void Events::checkpoint(double time_s, std::int64_t sweeps, std::uint64_t bytes, double seconds) {
  add(time_s, "checkpoint", {{"sweeps", sweeps}, {"bytes", bytes}, {"seconds", seconds}});
}

void Events::warning(double time_s, const std::string& code, const std::string& message) {
  add(time_s, "warning", {{"code", code}, {"message", clean(message)}});
}

void Events::update(const ReportPoint& point) {
  if (point.paused != std::exchange(paused_, point.paused)) {
    add(point.time_s, paused_ ? "pause" : "continue", {{"sweeps", point.sweeps}});
  }
  const bool improved = point.improved && point.has_best;
  if (!improved && point.time_s - newest_s_ < between_events_s) return;
  newest_s_ = point.time_s;
  Json more = {{"sweeps", point.sweeps},
               {"best", point.has_best ? value_of(point.best) : Json(nullptr)}};
  const Json all = {{"mean", point.mean},
                    {"acceptance_rate", point.acceptance_rate},
                    {"beta", std::isfinite(point.beta) ? Json(point.beta) : Json(nullptr)},
                    {"attempts_per_ns", point.attempts_per_ns}};
  // As in the table of progress, notes take the place of temperatures.
  for (const std::string& name : quantities_) {
    if (point.notes.empty() || name == "attempts_per_ns") more[name] = all[name];
  }
  if (point.time_left_s >= 0) more["time_left_s"] = point.time_left_s;
  for (const auto& [name, value] : point.notes) {
    more[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  }
  add(point.time_s, improved ? "improvement" : "progress", more);
}

void Events::alert(const AlertChange& change, double time_s) {
  Json more = {{"code", to_string(change.alert.code)}};
  if (change.raised) {
    more["message"] = clean(change.alert.message);
    more["fix"] = clean(change.alert.fix);
  }
  add(time_s, change.raised ? "alert" : "alert_end", more);
}

void Events::finish(const Result& result, const std::string& line) {
  add(result.time.run_s, "stop",
      {{"stop", to_string(result.stop)},
       {"objective", clean(result.value_name)},
       {"sweeps", result.work.sweeps},
       {"best", result.verified ? value_of(result.objective) : Json(nullptr)},
       {"verified", result.verified},
       {"line", line.empty() ? Json(nullptr) : Json(clean(line))}});
}

void Events::add(double time_s, const char* event, const Json& more) {
  Json line = {{"time_s", std::round(time_s * 1e6) / 1e6}, {"event", event}};
  line.update(more);
  file_.append(line.dump() + "\n");
}

Json Events::value_of(double value) const {
  const bool whole = integral_ && std::abs(value) < 0x1p53;
  return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

}  // namespace kiln::cli
