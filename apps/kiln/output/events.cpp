// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/events.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double between_events_s = 5.0;

}  // namespace

Events::Events(const RunFacts& facts, GrowingFile& file)
    : facts_(facts), integral_(facts.loaded.problem.units.integral), file_(file) {}

void Events::start() {
  add(0, "start",
      {{"problem", clean(facts_.loaded.problem.identity.name)},
       {"schedule", facts_.options.schedule},
       {"device", clean(facts_.device.name)},
       {"objective", clean(facts_.loaded.problem.units.value_name)},
       {"sense", option_of(facts_.loaded.problem.units.sense)},
       {"replicas", facts_.replicas},
       {"seed", facts_.options.run.seed}});
  if (!facts_.fallback_reason.empty()) warning(0, "device.fallback", facts_.fallback_reason);
}

void Events::resume(double time_s, std::uint64_t sweeps) {
  newest_s_ = time_s;
  add(time_s, "resume", {{"sweeps", sweeps}, {"device", clean(facts_.device.name)}});
}

void Events::checkpoint(double time_s, std::int64_t sweeps, std::uint64_t bytes, double seconds) {
  add(time_s, "checkpoint", {{"sweeps", sweeps}, {"bytes", bytes}, {"seconds", seconds}});
}

void Events::warning(double time_s, const std::string& code, const std::string& message) {
  add(time_s, "warning", {{"code", code}, {"message", clean(message)}});
}

void Events::update(const ReportPoint& point) {
  const bool improved = point.improved && point.has_best;
  if (!improved && point.time_s - newest_s_ < between_events_s) return;
  newest_s_ = point.time_s;
  Json more = {{"sweeps", point.sweeps},
               {"best", point.has_best ? value_of(point.best) : Json(nullptr)},
               {"mean", point.mean},
               {"acceptance_rate", point.acceptance_rate},
               {"beta", std::isfinite(point.beta) ? Json(point.beta) : Json(nullptr)},
               {"attempts_per_ns", point.attempts_per_ns}};
  for (const auto& [name, value] : point.notes) {
    more[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  }
  add(point.time_s, improved ? "improvement" : "progress", more);
}

void Events::finish(const Result& result) {
  add(result.time.run_s, "stop",
      {{"stop", to_string(result.stop)},
       {"objective", clean(result.value_name)},
       {"sweeps", result.work.sweeps},
       {"best", result.verified ? value_of(result.objective) : Json(nullptr)},
       {"verified", result.verified}});
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
