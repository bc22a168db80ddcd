// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The plans of all stages of a pipeline, made before the first state.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "kiln/errors.hpp"

#include "pipelines/run_stages.hpp"
#include "plan_naming.hpp"
#include "run_parts.hpp"

namespace kiln {
namespace {

std::string name_of(const std::vector<Stage>& stages, std::size_t stage) {
  return "stage " + std::to_string(stage + 1) + " ('" + stages[stage].schedule->name() + "')";
}

void check_limits(const std::vector<Stage>& stages, const Budget& budget) {
  if (stages.empty()) {
    throw InvalidArgument("pipeline.empty", "a pipeline needs at least one stage");
  }
  if (!budget.until.empty()) {
    throw InvalidArgument("budget.until", "a pipeline keeps no draws in this run",
                          "conditions on draws need a schedule that samples",
                          Fix::choose_schedule("samples"));
  }
  std::int64_t sweeps = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageLimit& limit = stages[i].limit;
    if ((limit.sweeps && *limit.sweeps < 1) || (limit.time_limit_s && !(*limit.time_limit_s > 0))) {
      throw InvalidArgument("pipeline.limit", name_of(stages, i) + " has a limit of 0 or less",
                            "sweeps of at least 1, and a time of more than 0 seconds");
    }
    const bool is_last = i + 1 == stages.size();
    if (limit.empty() && !budget.stop_when && !(is_last && budget.has_limit())) {
      throw InvalidArgument("pipeline.limit", name_of(stages, i) + " has no limit",
                            is_last ? "the last stage needs a limit, or the whole run needs one"
                                    : "a stage ends at its limit, and hands its replicas on",
                            "give the stage a limit: sweeps=1000, or time_limit=10s");
    }
    if (!is_last) sweeps += limit.sweeps.value_or(0);
  }
  if (budget.sweeps && *budget.sweeps <= sweeps) {
    throw InvalidArgument(
        "pipeline.limit",
        "a limit of " + std::to_string(*budget.sweeps) + " sweeps leaves none for the last stage",
        "the stages before it make " + std::to_string(sweeps) + " sweeps",
        "use more sweeps, or fewer in these stages");
  }
}

void check_stage(const std::vector<Stage>& stages, std::size_t stage, const RunPlan& plan,
                 const Budget& budget) {
  const auto refuse = [&](const std::string& why, Fix fix = {}) {
    throw InvalidArgument("pipeline.stage", name_of(stages, stage) + " " + why, {}, std::move(fix));
  };
  const Schedule& schedule = *stages[stage].schedule;
  if (plan.needs.requires_ability<VectorValued>()) {
    refuse("searches for a front, which is no state of a replica to hand on");
  }
  if (plan.needs.own_states) {
    refuse("chooses the states of its replicas itself, and neither takes nor hands on any");
  }
  if (plan.needs.keeps_draws) {
    refuse("keeps draws, and a pipeline has one result without draws", "run it alone");
  }
  if (stage > 0 && plan.needs.shared_noise) {
    refuse("has shared noise, which excludes states that are handed on",
           Fix::drop_need("shared_noise"));
  }
  if (budget.work_limit && schedule.work_kind() != WorkKind::attempts) {
    refuse("counts other work than attempts, so the run cannot have a work limit",
           "limit sweeps or time");
  }
}

void check_layouts(const Problem& problem, const std::vector<Stage>& stages,
                   const std::vector<RunPlan>& plans) {
  for (std::size_t i = 1; i < plans.size(); ++i) {
    if (layouts_of(*problem.objective, plans[i].needs) ==
        layouts_of(*problem.objective, plans[0].needs)) {
      continue;
    }
    throw InvalidArgument(
        "pipeline.layout",
        name_of(stages, i) + " needs another layout of the states than " + name_of(stages, 0),
        "stages with the same layout share the states");
  }
}

RunPlan plan_stage(const Problem& problem, const std::vector<Stage>& stages, std::size_t stage,
                   const Budget& budget, const RunOptions& options, const OpenedBackend& backend) {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < stage; ++i) before += stages[i].limit.sweeps.value_or(0);
  try {
    RunPlan plan =
        RunCore::plan(problem, *stages[stage].schedule, stage_budget(stages, stage, budget, before),
                      options, backend, true);
    check_stage(stages, stage, plan, budget);
    return plan;
  } catch (const InvalidArgument& error) {
    if (error.code().starts_with("pipeline.")) throw;
    throw InvalidArgument(error.code(), name_of(stages, stage) + ": " + error.message(),
                          error.expected(), error.fix_steps());
  }
}

// What the number of replicas must be a multiple of, so that the naming of draws stays.
std::int64_t step_of(const RunPlan& plan) {
  const std::int64_t each = plan.needs.group_size > 0 ? plan.needs.group_size : plan.needs.groups;
  return plan.draw_naming == DrawNaming::words ? each : 32 * each;
}

}  // namespace

Budget stage_budget(const std::vector<Stage>& stages, std::size_t stage, const Budget& whole,
                    std::int64_t sweeps_before) {
  const StageLimit& own = stages[stage].limit;
  Budget budget;
  budget.sweeps = own.sweeps;
  budget.time_limit_s = own.time_limit_s;
  budget.target = whole.target;
  budget.stop_when = whole.stop_when;
  if (stage + 1 < stages.size()) return budget;
  if (whole.sweeps) {
    const std::int64_t left = std::max<std::int64_t>(1, *whole.sweeps - sweeps_before);
    budget.sweeps = std::min(left, own.sweeps.value_or(left));
  }
  if (!budget.time_limit_s) budget.time_limit_s = whole.time_limit_s;
  return budget;
}

std::vector<RunPlan> plan_stages(const Problem& problem, const std::vector<Stage>& stages,
                                 const Budget& budget, const RunOptions& options,
                                 const OpenedBackend& backend) {
  check_budget(budget);
  check_limits(stages, budget);
  OpenedBackend on = backend;
  const auto plan_all = [&](const RunOptions& with) {
    std::vector<RunPlan> plans;
    while (plans.size() < stages.size()) {
      plans.push_back(plan_stage(problem, stages, plans.size(), budget, with, on));
      if (plans.back().opened.backend == on.backend) continue;
      // A stage whose kernels a GPU lacks takes all stages to the CPU.
      on = plans.back().opened;
      plans.clear();
    }
    check_layouts(problem, stages, plans);
    return plans;
  };
  std::vector<RunPlan> plans = plan_all(options);
  if (options.replicas > 0) return plans;
  std::int64_t most = 0, step = 1;
  for (const RunPlan& plan : plans) {
    most = std::max(most, plan.shape.replicas);
    step = std::lcm(step, step_of(plan));
  }
  RunOptions with = options;
  with.replicas = fitting_multiple(most, step);
  if (std::ranges::all_of(plans,
                          [&](const auto& plan) { return plan.shape.replicas == with.replicas; })) {
    return plans;
  }
  return plan_all(with);
}

RunPlan joint_plan(const std::vector<RunPlan>& plans, const Budget& budget,
                   const RunOptions& options) {
  const auto bytes = [](const RunPlan& plan) { return plan.bytes_needed(); };
  const RunPlan& largest = *std::ranges::max_element(plans, {}, bytes);
  RunPlan plan = plans.front();
  plan.budget = budget;
  plan.given = options.replicas > 0 ? GivenNumber::replicas : GivenNumber::none;
  plan.batch_bytes = largest.batch_bytes;
  plan.objective_bytes = largest.objective_bytes;
  plan.scratch_bytes = largest.scratch_bytes;
  plan.scratch_fixed_bytes = largest.scratch_fixed_bytes;
  plan.owned_bytes = largest.owned_bytes;
  // The origins of the replicas, twice while they are gathered, and places for energies.
  const auto slots = static_cast<std::uint64_t>(round_up(plan.shape.replicas, 32));
  const std::uint64_t origins = slots * (2 * sizeof(std::int32_t) + sizeof(double));
  plan.batch_bytes += origins;
  plan.owned_bytes[MemoryOwner::batch] += origins;
  for (const RunPlan& one : plans) plan.copy_bytes = std::max(plan.copy_bytes, one.copy_bytes);
  plan.owned_bytes[MemoryOwner::copies] = plan.copy_bytes;
  return plan;
}

}  // namespace kiln
