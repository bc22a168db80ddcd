// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/alerts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

// Raised beyond the first bound, ended within the second: a reading near a bound raises once.
constexpr double max_memory = 0.85, calm_memory = 0.80;
constexpr double max_nonfinite = 0.10, calm_nonfinite = 0.05, min_trials = 100;
constexpr double min_acceptance = 0.05, max_acceptance = 0.95, margin = 0.02;
constexpr double min_swaps = 0.10, calm_swaps = 0.12;
constexpr double max_waiting = 0.25, calm_waiting = 0.15, full_use = 0.75;

// Fewer attempts say nothing of a rate of 5 %.
constexpr double min_attempts = 1000;
// A window is at an end of an anneal if its betas are within this factor of the end.
constexpr double near_end = 1.25;
// A longer window may hold a whole round, whose mean acceptance has no healthy range.
constexpr double max_share_of_round = 0.25;

double percent(double share) { return 100 * share; }

double number_of(const std::map<std::string, std::string>& parameters, const char* name) {
  const auto at = parameters.find(name);
  if (at == parameters.end()) return 0;
  const std::optional<double> number = number_in(at->second);
  return number && std::isfinite(*number) ? *number : 0;
}

std::optional<Alert> anneal_alert(const AcceptancePlan& plan, const AcceptanceReading& reading,
                                  double low, double high) {
  const AnnealEnd end = anneal_end(plan, reading);
  if (end == AnnealEnd::hot && !plan.given_states && reading.rate < low) {
    return Alert{AlertCode::acceptance,
                 fmt::format("the anneal begins frozen: {:.2g} % of the attempts are accepted at "
                             "beta {:.3g}, its hottest",
                             percent(reading.rate), reading.beta_end),
                 fmt::format("use a smaller -p beta_min, for example {:.2g}", plan.beta_min / 10)};
  }
  if (end == AnnealEnd::cold && reading.rate > high) {
    return Alert{AlertCode::acceptance,
                 fmt::format("the anneal ends fluid: {:.3g} % of the attempts are accepted at beta "
                             "{:.3g}, its coldest",
                             percent(reading.rate), reading.beta_end),
                 fmt::format("use a larger -p beta_max, for example {:.2g}", plan.beta_max * 10)};
  }
  return std::nullopt;
}

// The hottest of R rungs accepts at most R times the mean, and the coldest at most the mean: so the
// mean alone can prove that the first is frozen, and that the second is not.
std::optional<Alert> ladder_alert(const AcceptancePlan& plan, const AcceptanceReading& reading,
                                  double low, double high) {
  if (reading.rate * plan.rungs < low) {
    return Alert{AlertCode::acceptance,
                 fmt::format("the ladder is frozen: its {:.0f} rungs accept {:.2g} % of the "
                             "attempts on average, so even the hottest accepts less than 5 %",
                             plan.rungs, percent(reading.rate)),
                 "use a smaller -p beta_min"};
  }
  if (reading.rate > high) {
    return Alert{AlertCode::acceptance,
                 fmt::format("the ladder is too hot: its rungs accept {:.3g} % of the attempts on "
                             "average",
                             percent(reading.rate)),
                 "use a larger -p beta_max"};
  }
  return std::nullopt;
}

std::optional<Alert> chains_alert(const AcceptanceReading& reading, double low) {
  if (reading.rate >= low) return std::nullopt;
  return Alert{AlertCode::acceptance,
               fmt::format("the chains hardly move: {:.2g} % of the transitions are accepted",
                           percent(reading.rate)),
               "use a longer --warmup, or a larger -p target_acceptance, or a smaller -p step_size "
               "if you set it"};
}

}  // namespace

const char* to_string(AlertCode code) noexcept {
  switch (code) {
    case AlertCode::memory:
      return "memory";
    case AlertCode::acceptance:
      return "acceptance";
    case AlertCode::non_finite:
      return "non_finite";
    case AlertCode::swap_rate:
      return "swap_rate";
    case AlertCode::throttled:
      return "throttled";
    case AlertCode::overrun:
      return "overrun";
    case AlertCode::host_busy:
      return "host_busy";
  }
  return "?";
}

std::string alert_text(const Alert& alert) {
  return fmt::format("warning[alert.{}]: {}\n  fix: {}", to_string(alert.code),
                     clean(alert.message), clean(alert.fix));
}

std::optional<Alert> memory_alert(const MemoryReading& reading, bool active) {
  if (reading.total_bytes == 0) return std::nullopt;
  const double share =
      static_cast<double>(reading.used_bytes) / static_cast<double>(reading.total_bytes);
  if (share <= (active ? calm_memory : max_memory)) return std::nullopt;
  return Alert{
      AlertCode::memory,
      fmt::format("{:.0f} % of the memory of {} is in use, {} of {}", percent(share), reading.owner,
                  human_bytes(reading.used_bytes), human_bytes(reading.total_bytes)),
      "end other programs there; for the next run use fewer --replicas (--dry-run shows "
      "the memory of a run)"};
}

std::optional<Alert> nonfinite_alert(const TrialReading& reading, bool active) {
  if (reading.trials < min_trials) return std::nullopt;
  const double share = static_cast<double>(reading.nonfinite) / reading.trials;
  if (share <= (active ? calm_nonfinite : max_nonfinite)) return std::nullopt;
  return Alert{AlertCode::non_finite,
               fmt::format("{:.0f} % of the trial energies are NaN or infinite; Kiln rejects them",
                           percent(share)),
               "narrow the ranges of the variables, or make the objective finite where it has a "
               "meaning"};
}

AcceptancePlan acceptance_plan(const std::string& schedule,
                               const std::map<std::string, std::string>& parameters,
                               bool given_states) {
  AcceptancePlan plan;
  plan.given_states = given_states;
  if (schedule == "simulated-annealing") {
    plan.beta_min = number_of(parameters, "beta_min");
    plan.beta_max = number_of(parameters, "beta_max");
    plan.anneal_sweeps = number_of(parameters, "anneal_sweeps");
    // Each group has other temperatures, and the rate is a mean of all groups.
    const bool one_group = number_of(parameters, "groups") <= 1;
    if (one_group && plan.beta_min > 0 && plan.beta_max > 0) plan.kind = AcceptanceKind::anneal;
  } else if (schedule == "parallel-tempering" || schedule == "replica-exchange") {
    plan.rungs = number_of(parameters, "rungs") + std::max(0.0, number_of(parameters, "walkers"));
    if (plan.rungs >= 1) plan.kind = AcceptanceKind::ladder;
  } else if (schedule == "hmc") {
    const auto mode = parameters.find("mode");
    plan.warmup = number_of(parameters, "warmup");
    // An anneal of a density freezes on purpose.
    if (mode != parameters.end() && mode->second == "sample") plan.kind = AcceptanceKind::chains;
  }
  return plan;
}

AnnealEnd anneal_end(const AcceptancePlan& plan, const AcceptanceReading& reading) {
  if (reading.sweeps > max_share_of_round * plan.anneal_sweeps) return AnnealEnd::none;
  const auto [low, high] = std::minmax(reading.beta_begin, reading.beta_end);
  if (high <= near_end * plan.beta_min) return AnnealEnd::hot;
  return low * near_end >= plan.beta_max ? AnnealEnd::cold : AnnealEnd::none;
}

bool is_judged(const AcceptancePlan& plan, const AcceptanceReading& reading) {
  if (reading.attempts < min_attempts || !std::isfinite(reading.rate)) return false;
  if (plan.kind != AcceptanceKind::anneal) return plan.kind != AcceptanceKind::unjudged;
  return anneal_end(plan, reading) != AnnealEnd::none;
}

std::optional<Alert> acceptance_alert(const AcceptancePlan& plan, const AcceptanceReading& reading,
                                      bool active) {
  const double low = min_acceptance + (active ? margin : 0);
  const double high = max_acceptance - (active ? margin : 0);
  switch (plan.kind) {
    case AcceptanceKind::anneal:
      return anneal_alert(plan, reading, low, high);
    case AcceptanceKind::ladder:
      return ladder_alert(plan, reading, low, high);
    case AcceptanceKind::chains:
      return chains_alert(reading, low);
    case AcceptanceKind::unjudged:
      break;
  }
  return std::nullopt;
}

std::optional<Alert> swap_alert(const std::vector<double>& acceptance, bool active) {
  const double low = active ? calm_swaps : min_swaps;
  std::size_t worst = acceptance.size();
  std::size_t closed = 0;
  for (std::size_t gap = 0; gap < acceptance.size(); ++gap) {
    if (!(acceptance[gap] < low)) continue;
    ++closed;
    if (worst == acceptance.size() || acceptance[gap] < acceptance[worst]) worst = gap;
  }
  if (closed == 0) return std::nullopt;
  const std::string others =
      closed == 1 ? "" : fmt::format("; {} of {} gaps are below 10 %", closed, acceptance.size());
  return Alert{AlertCode::swap_rate,
               fmt::format("rungs {} and {} accept {:.2g} % of their exchanges{}", worst, worst + 1,
                           percent(acceptance[worst]), others),
               fmt::format("give the ladder more rungs, for example -p rungs={}",
                           2 * (acceptance.size() + 1))};
}

std::optional<Alert> throttle_alert(const SlowdownReadings& reading) {
  std::string reasons;
  for (const std::string& reason : reading.throttled) {
    if (reason == "power" || reason == "idle") continue;
    reasons += (reasons.empty() ? "" : ", ") + reason;
  }
  if (reasons.empty()) return std::nullopt;
  return Alert{AlertCode::throttled, fmt::format("the device lowers its clocks: {}", reasons),
               "check cooling and power supply of the device (nvidia-smi -q -d PERFORMANCE)"};
}

std::optional<Alert> overrun_alert(const TelemetryReadings& reading) {
  if (reading.lost_records == 0) return std::nullopt;
  return Alert{AlertCode::overrun,
               fmt::format("telemetry has lost {} records; sums and diagnostics are complete",
                           reading.lost_records),
               "raise --telemetry-budget, or use --telemetry summary"};
}

std::optional<Alert> host_alert(const HostReading& reading, bool active) {
  const double ready_s = reading.running_s + reading.waiting_s;
  if (!(ready_s > 0) || !(reading.wall_s > 0)) return std::nullopt;
  const double waiting = reading.waiting_s / ready_s;
  const double use = reading.running_s / (reading.wall_s * reading.threads);
  const bool starved = waiting > (active ? calm_waiting : max_waiting) && use < full_use;
  if (!starved) return std::nullopt;
  return Alert{AlertCode::host_busy,
               fmt::format("the host is busy: threads that could run waited {:.0f} % of that time "
                           "for a processor",
                           percent(waiting)),
               "end other programs, or use fewer --threads"};
}

std::optional<AlertChange> AlertLedger::judge(AlertCode code, const std::optional<Alert>& verdict) {
  const auto at = active_.find(code);
  if (verdict && at == active_.end()) {
    active_.emplace(code, *verdict);
    return AlertChange{*verdict, true};
  }
  if (!verdict && at != active_.end()) {
    AlertChange change{at->second, false};
    active_.erase(at);
    return change;
  }
  return std::nullopt;
}

}  // namespace kiln::cli
