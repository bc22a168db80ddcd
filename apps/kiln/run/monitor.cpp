// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/registry.hpp"

#include "output/report_quantities.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr double window_s = 1;  // of acceptance and trial energies
constexpr double between_memory_s = 10;
constexpr double first_memory_s = 1;  // a shorter run has nothing to warn of
// A reading that keeps crossing its bounds does not fill a terminal; the event log has it all.
constexpr double between_notes_s = 600;
constexpr double host_window_s = 5;
// Exchange phases below which a rate of 10 % is not told from one of 20 %.
constexpr double min_swap_phases = 100;
// A look at the result so far copies it from the device.
constexpr double first_look_s = 2, look_spacing = 200;

std::optional<double> diagnostic(const Result& result, const char* name) {
  const auto at = result.diagnostics.find(name);
  return at == result.diagnostics.end() ? std::nullopt : std::optional(at->second);
}

// Of a ladder that has ended its adaptation.
bool has_swap_rates(const Result& result) {
  return result.series.contains("rejection") && diagnostic(result, "adapted").value_or(0) == 1 &&
         diagnostic(result, "swap_phases").value_or(0) >= min_swap_phases;
}

}  // namespace

Monitor::Monitor(const RunFacts& facts, const Backend& backend, MonitorSink sink)
    : backend_(backend),
      sink_(std::move(sink)),
      plan_(acceptance_plan(
          facts.options.schedule, facts.parameters,
          !facts.options.run.initial_states.empty() || !facts.loaded.problem.start.states.empty())),
      is_searching_(!facts.options.verb->samples) {
  const Problem& problem = facts.loaded.problem;
  variables_ = std::max<double>(1, static_cast<double>(problem.objective->space().variables()));
  replicas_ = static_cast<double>(facts.replicas);
  counts_whole_ = problem.objectives != nullptr || facts.options.schedule == "hmc";
  const auto rungs = facts.parameters.find("rungs");
  has_ladder_ = rungs != facts.parameters.end() && rungs->second != "1";
  if (facts.device.gpu) {
    host_ = open_backend("cpu", 1).backend;
  } else {
    threads_ = facts.device.parallel_units;
  }
  reading_.best_known = problem.known.best;
  if (!facts.options.has("metrics")) return;
  const std::vector<std::string> quantities = report_quantities(facts);
  reading_.quantities.insert(quantities.begin(), quantities.end());
  metrics_.emplace(facts.options.text("metrics"),
                   MetricLabels{problem.identity.name, facts.options.schedule, facts.device.name,
                                facts.options.run.seed});
}

void Monitor::Window::restart(const ReportPoint& point) {
  *this = Window{};
  begin_s = point.time_s;
  beta_begin = point.beta;
}

void Monitor::Window::add(const ReportPoint& point, const ReportPoint& last) {
  const double attempts_now = point.attempts - last.attempts;
  sweeps += static_cast<double>(point.sweeps - last.sweeps);
  attempts += attempts_now;
  accepted += point.acceptance_rate * attempts_now;
  nonfinite += static_cast<double>(point.nonfinite);
}

void Monitor::judge(AlertCode code, const std::optional<Alert>& verdict) {
  const std::optional<AlertChange> change = ledger_.judge(code, verdict);
  if (!change) return;
  sink_.alert(*change, now_s_);
  if (!change->raised) return;
  const auto told = told_s_.find(code);
  if (told == told_s_.end() || now_s_ - told->second >= between_notes_s) {
    sink_.note(alert_text(change->alert));
    told_s_[code] = now_s_;
  }
  std::string message = change->alert.message;
  if (message.front() >= 'a' && message.front() <= 'z') message.front() -= 'a' - 'A';
  advice_.try_emplace(code,
                      fmt::format("{} (after {:.1f} s): {}.", message, now_s_, change->alert.fix));
}

void Monitor::judge_acceptance(const ReportPoint& point) {
  if (plan_.kind == AcceptanceKind::unjudged) return;
  if (plan_.kind == AcceptanceKind::chains && static_cast<double>(point.sweeps) <= plan_.warmup) {
    return acceptance_.restart(point);
  }
  acceptance_.add(point, last_);
  const bool chains = plan_.kind == AcceptanceKind::chains;
  const double whole = chains ? variables_ : 1;
  AcceptanceReading reading;
  reading.attempts = acceptance_.attempts / whole;
  if (acceptance_.attempts > 0) {
    reading.rate = whole * acceptance_.accepted / acceptance_.attempts;
  }
  reading.beta_begin = acceptance_.beta_begin;
  reading.beta_end = point.beta;
  reading.sweeps = acceptance_.sweeps;
  const bool anneal = plan_.kind == AcceptanceKind::anneal;
  if (!anneal && point.time_s - acceptance_.begin_s < window_s) return;
  const bool judged = is_judged(plan_, reading);
  const bool active = ledger_.is_active(AlertCode::acceptance);
  const AnnealEnd end = anneal_end(plan_, reading);
  // What one end of an anneal has raised the other does not clear.
  if (judged && (!anneal || !active || end == alerted_end_)) {
    judge(AlertCode::acceptance, acceptance_alert(plan_, reading, active));
    alerted_end_ = end;
  }
  if (judged || anneal) acceptance_.restart(point);
}

void Monitor::judge_trials(const ReportPoint& point) {
  trials_.add(point, last_);
  if (point.time_s - trials_.begin_s < window_s) return;
  // A sampler looks for its step size by failing.
  const bool counts = is_searching_ || static_cast<double>(point.sweeps) > plan_.warmup;
  const double trials = counts_whole_ ? trials_.sweeps * replicas_ : trials_.attempts;
  const TrialReading reading{static_cast<std::uint64_t>(trials_.nonfinite), trials};
  if (counts) {
    judge(AlertCode::non_finite,
          nonfinite_alert(reading, ledger_.is_active(AlertCode::non_finite)));
  }
  trials_.restart(point);
}

void Monitor::judge_memory(const ReportPoint& point) {
  if (point.time_s - begin_s_ < first_memory_s) return;
  if (memory_s_ > 0 && point.time_s - memory_s_ < between_memory_s) return;
  memory_s_ = point.time_s;
  const bool active = ledger_.is_active(AlertCode::memory);
  std::optional<Alert> verdict;
  for (const Backend* backend : {&backend_, static_cast<const Backend*>(host_.get())}) {
    if (backend == nullptr || verdict) continue;
    const DeviceInfo info = backend->info();
    if (info.memory_free > info.memory_total) continue;
    verdict = memory_alert({info.gpu ? info.name : "the host", info.memory_total - info.memory_free,
                            info.memory_total},
                           active);
  }
  judge(AlertCode::memory, verdict);
}

void Monitor::judge_host(const ReportPoint& point) {
  const double wall_s = point.time_s - host_s_;
  if (!threads_ || !load_ || wall_s < host_window_s) return;
  const std::optional<HostLoad> now = host_load();
  const std::optional<HostLoad> before = std::exchange(load_, now);
  host_s_ = point.time_s;
  if (!now || now->running_s < before->running_s || now->waiting_s < before->waiting_s) return;
  judge(AlertCode::host_busy, host_alert({wall_s, now->running_s - before->running_s,
                                          now->waiting_s - before->waiting_s, *threads_},
                                         ledger_.is_active(AlertCode::host_busy)));
}

void Monitor::begin(const ReportPoint& point) {
  last_ = point;
  acceptance_.restart(point);
  trials_.restart(point);
  host_s_ = point.time_s;
  begin_s_ = point.time_s;
  load_ = threads_ ? host_load() : std::nullopt;
  observe(point);
}

void Monitor::observe(const ReportPoint& point) {
  reading_.point = point;
  reading_.nonfinite += point.nonfinite;
  if (point.has_best) reading_.best = point.best;
  if (point.improved) reading_.improved_s = point.time_s;
  if (metrics_ && metrics_->is_due()) write_metrics("");
}

void Monitor::update(const ReportPoint& point, const MonitorReadings& readings) {
  now_s_ = point.time_s;
  // A run that continues has a time and work of its past.
  if (!std::exchange(begun_, true)) return begin(point);
  judge_acceptance(point);
  judge_trials(point);
  last_ = point;
  judge_memory(point);
  judge_host(point);
  if (readings.hardware) judge(AlertCode::throttled, throttle_alert(*readings.hardware));
  if (readings.telemetry) judge(AlertCode::overrun, overrun_alert(*readings.telemetry));
  observe(point);
}

void Monitor::judge_swaps(const Result& result) {
  if (!has_swap_rates(result)) return;
  std::vector<double> acceptance;
  for (const double rejected : result.series.at("rejection")) acceptance.push_back(1 - rejected);
  judge(AlertCode::swap_rate, swap_alert(acceptance, ledger_.is_active(AlertCode::swap_rate)));
}

void Monitor::look(Run& run) {
  if (!has_ladder_ || now_s_ - begin_s_ < std::max(first_look_s, look_s_ - begin_s_)) return;
  const auto begin = std::chrono::steady_clock::now();
  try {
    judge_swaps(run.result_so_far());
  } catch (const Error&) {
    // no feasible state yet
  }
  const std::chrono::duration<double> cost = std::chrono::steady_clock::now() - begin;
  look_s_ = now_s_ + std::max(now_s_ - begin_s_, look_spacing * cost.count());
}

void Monitor::write_metrics(const std::string& stop) {
  reading_.stop = stop;
  reading_.alerts = ledger_.active();
  const std::string warning = metrics_->write(reading_);
  if (!warning.empty()) sink_.note(warning);
}

void Monitor::finish(Result& result) {
  now_s_ = result.time.run_s;
  for (const auto& [code, sentence] : advice_) {
    // The schedule's own advice names the gap.
    if (code != AlertCode::swap_rate) result.advice.push_back(sentence);
  }
  judge_swaps(result);
  if (!metrics_) return;
  reading_.point.time_s = result.time.run_s;
  reading_.point.sweeps = result.work.sweeps;
  reading_.point.attempts = result.work.attempts;
  if (result.verified) {
    reading_.best = result.objective;
    reading_.improved_s = result.time.to_best_s;  // not that of the next report point
  }
  write_metrics(to_string(result.stop));
}

}  // namespace kiln::cli
