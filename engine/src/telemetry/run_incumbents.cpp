// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a run and its result say of incumbents and telemetry.
#include <algorithm>
#include <cmath>

#include "kiln/run.hpp"

#include "run_core.hpp"
#include "run_parts.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {

void RunCore::time_incumbents() {
  if (!telemetry_) return;
  telemetry_->set_times([this](std::uint64_t step) {
    return step > progress_->looks.back().step ? progress_->run_s : seconds_at(step);
  });
}

// The best of an epoch that has not ended, or of a tick that is not whole, is an incumbent of the
// result alone: the run itself comes to it when the epoch ends.
void RunCore::collect_incumbents(Result& result) {
  if (!telemetry_) return;
  time_incumbents();
  IncumbentList list = telemetry_->incumbents();
  const auto best = std::ranges::min_element(best_energies_);
  const double energy = problem_.units.energy_of_stored(*best);
  if (std::isfinite(*best) && (list.kept().empty() || energy < list.kept().back().energy)) {
    const std::int64_t replica = best - best_energies_.begin();
    const std::int64_t slot = holder_[static_cast<std::size_t>(replica)];
    std::uint64_t begin = 0;
    IncumbentEntry entry{};
    queue_->download(&begin, batch_->best_step().data + slot, sizeof begin);
    queue_->download(&entry.rung, batch_->rung_of().data + slot, sizeof entry.rung);
    entry.step =
        std::min(begin + needs_.sweeps_per_tick, std::max(begin, progress_->last.control.step));
    entry.energy = *best;
    entry.replica = static_cast<std::int32_t>(replica);
    entry.group = static_cast<std::int32_t>(slot / batch_->group_size());
    Incumbent last = telemetry_->incumbent_of(entry);
    last.time_s =
        entry.step > progress_->looks.back().step ? progress_->run_s : seconds_at(entry.step);
    list.add(last);
  }
  result.incumbents = list.kept();
  result.incumbents_found = list.found();
  if (result.incumbents.empty()) return;
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
