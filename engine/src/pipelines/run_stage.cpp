// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The run of one stage: how it takes over the batch, ends and hands it on.
#include <algorithm>
#include <string>
#include <utility>

#include "kiln/device/exact_math.hpp"

#include "run_parts.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {

std::string RunCore::stage_text() const {
  if (earlier_.stages == 0) return {};
  return std::to_string(earlier_.stage + 1) + "/" + std::to_string(earlier_.stages) + " " +
         schedule_.name();
}

double RunCore::stage_s() const noexcept {
  double seconds = progress_->run_s;
  for (const StageResult& one : earlier_.results) seconds -= one.run_s;
  return std::max(0.0, seconds);
}

// Energies that sweeps have added up are computed anew, so that the path follows from the states.
// Values of the host are exact, and may be expensive.
void RunCore::take_over(Handed& handed) {
  Progress& p = *progress_;
  p.setup_s = handed.setup_s;
  p.run_s = p.reported_s = handed.run_s;
  p.to_best_s = handed.to_best_s;
  p.best_key = p.reported_best_key = handed.best_key;
  p.first_values = handed.first_values;
  p.begins_with_values = handed.begins_with_values;
  p.in_ticks = handed.in_ticks;
  p.looks = {{0, handed.run_s}};
  if (problem_.objective->execution().pace != Pace::host) update_energies({});
}

// `own` has the limits alone that come before those of the caller.
bool RunCore::ends_stage(Stop reason, const StageLimit& own) {
  return reason == Stop::gain_limit || (reason == Stop::sweep_limit && own.sweeps) ||
         (reason == Stop::time_limit && own.time_limit_s);
}

// What the limit leaves of a tick is done for good: the next stage goes on from there. The best of
// a part of an epoch becomes an incumbent, too.
void RunCore::finish_stage(Stop reason) {
  Progress& p = *progress_;
  const auto begin = Clock::now();
  if (cuts_tick(reason)) {
    open_limits();
    p.whole = false;
    enqueue_ticks(1, false);
  }
  if (telemetry_) {
    telemetry_->hand_over(control());
    telemetry_->look(control());
  }
  post_summary();
  const RunSummary last = wait_summary();
  p.whole = true;
  p.run_s += seconds_since(begin);
  p.add_look(last.control.step, p.run_s);
  time_incumbents();
  if (telemetry_) telemetry_->add_looked();
  time_incumbents();
  if (last.control.best_key >= p.best_key) return;
  p.best_key = last.control.best_key;
  p.best_step = last.control.step;
  p.to_best_s = p.run_s;
}

StageResult RunCore::stage_result() const {
  const RunControl& control = progress_->last.control;
  StageResult result{schedule_.name(), static_cast<std::int64_t>(control.step), stage_s(), {}};
  if (control.best_key != ~0ull) {
    result.best = problem_.units.objective_of_stored(exact::from_order_key(control.best_key));
  }
  return result;
}

StageBegin RunCore::hand_on() {
  const Progress& p = *progress_;
  StageBegin next;
  EarlierStages& earlier = next.earlier;
  earlier = earlier_;
  earlier.results.push_back(stage_result());
  ++earlier.stage;
  earlier.sweeps += static_cast<std::int64_t>(p.last.control.step);
  earlier.ticks += static_cast<std::int64_t>(p.last.control.tick);
  earlier.accepted += p.last.accepted;
  earlier.not_finite += p.last.not_finite;
  if (gradients_.size > 0) earlier.gradients = earlier.gradients.value_or(0) + gradients_done();
  const View1<const double> betas = betas_to_hand_.size > 0 ? betas_to_hand_ : shown_beta_;
  earlier.betas.resize(static_cast<std::size_t>(betas.size));
  read_bytes(earlier.betas.data(), betas.data, earlier.betas.size() * sizeof(double));
  for (const auto& [name, value] : schedule_.parameters()) {
    earlier.parameters[std::to_string(earlier.stage) + "." + name] = value;
  }
  next.handed = std::make_unique<Handed>();
  Handed& handed = *next.handed;
  handed.best_key = p.last.control.best_key;
  handed.setup_s = p.setup_s;
  handed.run_s = p.run_s;
  handed.to_best_s = p.to_best_s;
  handed.first_values = p.first_values;
  handed.begins_with_values = p.begins_with_values;
  handed.in_ticks = p.in_ticks;
  if (telemetry_) handed.incumbents = telemetry_->incumbents();
  handed.batch = std::move(batch_);
  handed.origin = std::move(origin_);
  give_up();
  return next;
}

}  // namespace kiln
