// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run and its result say of incumbents and telemetry.
#include <algorithm>

#include "kiln/run.hpp"

#include "run_core.hpp"
#include "run_parts.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {

void RunCore::settle() {
  queue_->wait();
  if (telemetry_) telemetry_->take();
}

void RunCore::time_incumbents() {
  if (!telemetry_) return;
  telemetry_->set_times([this](std::uint64_t step) {
    return step > progress_->looks.back().step ? progress_->run_s : seconds_at(step);
  });
}

// The best of the last tick, or of one that is not whole, is an incumbent of the result alone: the
// run itself comes to it when it goes on.
void RunCore::collect_incumbents(Result& result) {
  if (!telemetry_) return;
  telemetry_->take();
  time_incumbents();
  IncumbentList list = telemetry_->incumbents();
  const IncumbentEntry* const now = telemetry_->looked();
  if (now != nullptr) {
    Incumbent last = telemetry_->incumbent_of(*now);
    last.time_s =
        now->step > progress_->looks.back().step ? progress_->run_s : seconds_at(now->step);
    if (list.kept().empty() || last.energy < list.kept().back().energy) list.add(last);
  }
  result.incumbents = list.kept();
  result.incumbents_found = list.found();
  if (result.incumbents.empty()) return;
  result.time.to_best_s = result.incumbents.back().time_s;
  result.primal_integral =
      primal_integral(result.incumbents, result.best_known.value_or(result.objective), result.sense,
                      result.time.run_s);
  if (result.best_known) {
    result.time_to_gap = time_to_gap(result.incumbents, *result.best_known, result.sense,
                                     problem_.target_tolerance());
  }
}

const IncumbentList& Run::incumbents() const {
  static const IncumbentList none;
  const RunTelemetry* const telemetry = whole().telemetry();
  return telemetry != nullptr ? telemetry->incumbents() : none;
}

TelemetryHeader Run::telemetry_header() const {
  const RunTelemetry* const telemetry = whole().telemetry();
  return telemetry != nullptr ? telemetry->header() : TelemetryHeader{};
}

TelemetryCounts Run::telemetry_counts() const {
  const RunTelemetry* const telemetry = whole().telemetry();
  return telemetry != nullptr ? telemetry->counts() : TelemetryCounts{};
}

std::vector<TelemetrySums> Run::telemetry_sums() const {
  const RunTelemetry* const telemetry = whole().telemetry();
  return telemetry != nullptr ? telemetry->sums() : std::vector<TelemetrySums>{};
}

}  // namespace kiln
