// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How many sweeps a work limit leaves.
#include "limits/plan_work.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/fix.hpp"

namespace kiln {
namespace {

// Of `replicas` in equal groups, as many as one sweep within the limit allows; 0 if none.
std::int64_t affordable_replicas(const RunPlan& plan, const WorkOfSweeps& work,
                                 std::int64_t limit) {
  const std::int64_t each = (work.before + work.each) / plan.shape.replicas;
  const std::int64_t step =
      plan.needs.group_size > 0 ? plan.needs.group_size : std::max<std::int64_t>(1, plan.groups());
  return limit / each / step * step;
}

}  // namespace

std::optional<WorkOfSweeps> work_of_sweeps(WorkKind kind, const Needs& needs, std::int64_t replicas,
                                           const Space& space) noexcept {
  switch (kind) {
    case WorkKind::attempts:
      return WorkOfSweeps{0, replicas * std::max<std::int64_t>(1, space.variables())};
    case WorkKind::evaluations:
      return WorkOfSweeps{needs.own_states ? 0 : replicas, replicas};
    case WorkKind::gradients:
      break;
  }
  return {};
}

void plan_work(RunPlan& plan, const Problem& problem, Schedule& schedule) {
  if (!plan.budget.work_limit) return;
  const std::int64_t limit = *plan.budget.work_limit, replicas = plan.shape.replicas;
  const WorkKind kind = schedule.work_kind();
  const Space& space = problem.objective->space();
  const std::optional<WorkOfSweeps> work = work_of_sweeps(kind, plan.needs, replicas, space);
  if (!work) return;
  const std::int64_t sweeps = work->within(limit), least = work->before + work->each;
  if (sweeps < 1) {
    const std::int64_t fitting = affordable_replicas(plan, *work, limit);
    const Fix fix = Fix::work_limit(least);
    throw InvalidArgument("budget.work_limit",
                          "a work limit of " + std::to_string(limit) + " " + to_string(kind) +
                              " leaves no " + std::string(schedule.step_name()) + " of " +
                              std::to_string(replicas) + (replicas == 1 ? " replica" : " replicas"),
                          "at least " + std::to_string(least) + " " + to_string(kind),
                          fitting > 0 ? fix.or_else(Fix::set_replicas(fitting)) : fix);
  }
  plan.budget.sweeps = std::min(sweeps, plan.budget.sweeps.value_or(sweeps));
  plan.needs = schedule.needs(problem, plan.budget);
  plan.needs.sweeps_per_tick = std::max<std::uint32_t>(1, plan.needs.sweeps_per_tick);
}

void check_until(const Budget& budget, const Schedule& schedule, const Needs& needs) {
  if (budget.until.empty()) return;
  if (needs.keeps_draws && schedule.as<LooksAtDraws>() != nullptr) return;
  throw InvalidArgument(
      "budget.until", "schedule '" + schedule.name() + "' keeps no draws in this run",
      "conditions on draws need a schedule that samples", Fix::choose_schedule("samples"));
}

void check_stop_when(const Budget& budget, const Schedule& schedule, const Needs& needs,
                     const TelemetryOptions& telemetry) {
  if (!budget.stop_when) return;
  const auto refuse = [](const std::string& what, const std::string& expected, const Fix& fix) {
    throw InvalidArgument("budget.stop_when", what, expected, fix);
  };
  const std::string named = "schedule '" + schedule.name() + "' ";
  if (needs.keeps_draws) {
    refuse(named + "keeps draws, and searches for no best value", "conditions on the draws",
           Fix("use Budget::until"));
  }
  if (needs.requires_ability<VectorValued>()) {
    refuse(named + "searches for a front, which is no single best value",
           "a limit of work, of sweeps or of time", {});
  }
  if (!telemetry.epochs) {
    refuse("a run without epochs notes no incumbents", "TelemetryOptions::epochs", {});
  }
  using Unit = GainCondition::Unit;
  const Unit unit = budget.stop_when->unit;
  if (unit == Unit::sweeps) return;
  const WorkKind counted = schedule.work_kind();
  const std::string of_schedule = to_string(counted);
  if (of_schedule == to_string(unit)) return;
  refuse("'" + budget.stop_when->text() + "' counts " + to_string(unit) + ", and " + named +
             "counts " + of_schedule,
         counted == WorkKind::gradients ? "sweeps" : of_schedule + " or sweeps", {});
}

}  // namespace kiln
