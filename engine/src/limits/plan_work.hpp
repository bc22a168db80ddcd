// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "kiln/budget.hpp"
#include "kiln/plan.hpp"
#include "kiln/problem.hpp"
#include "kiln/schedule.hpp"
#include "kiln/telemetry/options.hpp"

namespace kiln {

/// The work of a run whose sweeps all have the same.
struct WorkOfSweeps {
  std::int64_t before = 0;  ///< of the initial states
  std::int64_t each = 1;    ///< of a sweep

  /// The most sweeps that stay within a limit.
  std::int64_t within(std::int64_t limit) const noexcept {
    return limit < before ? 0 : (limit - before) / each;
  }
};

/// Nothing where the schedule counts its work on the device.
std::optional<WorkOfSweeps> work_of_sweeps(WorkKind kind, const Needs& needs, std::int64_t replicas,
                                           const Space& space) noexcept;

/// Makes the work limit of the budget a limit of sweeps, by which the schedule then plans.
/// @throws InvalidArgument `budget.work_limit` if the limit leaves no sweep.
void plan_work(RunPlan& plan, const Problem& problem, Schedule& schedule);

/// @throws InvalidArgument `budget.until` for conditions on the draws of a schedule without draws.
void check_until(const Budget& budget, const Schedule& schedule, const Needs& needs);

/// @throws InvalidArgument `budget.stop_when` for a condition on the gain of a run that keeps
/// draws, has several objectives or notes no incumbents, or in work that the schedule does not
/// count
void check_stop_when(const Budget& budget, const Schedule& schedule, const Needs& needs,
                     const TelemetryOptions& telemetry);

}  // namespace kiln
