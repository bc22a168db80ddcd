// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Runs whose schedule has stages: one RunCore after another on the same queue and batch.
#include "pipelines/run_stages.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"

#include "run_parts.hpp"

namespace kiln {

RunStages::RunStages(const Problem& problem, const Schedule& pipeline,
                     const std::vector<Stage>& stages, const Budget& budget,
                     const RunOptions& options, const OpenedBackend& backend)
    : problem_(problem),
      pipeline_(pipeline),
      stages_(stages),
      budget_(budget),
      options_(options),
      backend_(backend) {
  const std::vector<RunPlan> plans = plan_stages(problem, stages, budget, options, backend);
  const RunPlan whole = joint_plan(plans, budget, options);
  require_memory(whole);
  reserve_bytes_ = whole.bytes_needed();
  options_.replicas = plans.front().shape.replicas;
  // Records have the shape of one stage; a file of them has one shape.
  options_.telemetry.level = TelemetryLevel::off;
}

StageBegin RunStages::first() const {
  StageBegin begin;
  begin.earlier.stages = static_cast<std::int64_t>(stages_.size());
  return begin;
}

std::unique_ptr<RunCore> RunStages::make(StageBegin begin, std::shared_ptr<Queue> queue,
                                         std::optional<DrawNaming> naming) const {
  const auto stage = static_cast<std::size_t>(begin.earlier.stage);
  const Budget budget = stage_budget(stages_, stage, budget_, begin.earlier.sweeps);
  RunOptions options = options_;
  if (naming) options.draw_naming = naming;
  begin.reserve_bytes = reserve_bytes_;
  if (budget_.sweeps && budget.sweeps) {
    begin.sweeps_after =
        std::max<std::int64_t>(0, *budget_.sweeps - begin.earlier.sweeps - *budget.sweeps);
  }
  return std::make_unique<RunCore>(problem_, *stages_[stage].schedule, budget, options, backend_,
                                   std::move(queue), &begin);
}

RunStages::CallLimit RunStages::limit_of(const RunCore& core, const Budget& wanted,
                                         double elapsed_s) const {
  const std::int64_t before = core.earlier().sweeps;
  const auto stage = static_cast<std::size_t>(core.earlier().stage);
  const StageLimit& own = stages_[stage].limit;
  CallLimit limit;
  limit.budget.target = wanted.target;
  limit.budget.stop_when = wanted.stop_when;
  std::optional<std::int64_t> outer = wanted.sweeps;
  if (wanted.work_limit) {
    const std::int64_t each =
        options_.replicas * std::max<std::int64_t>(1, problem_.objective->space().variables());
    const std::int64_t sweeps = *wanted.work_limit / each;
    limit.by_work = sweeps <= outer.value_or(sweeps);
    outer = std::min(sweeps, outer.value_or(sweeps));
  }
  if (outer) limit.budget.sweeps = std::max<std::int64_t>(0, *outer - before);
  if (own.sweeps && (!limit.budget.sweeps || *own.sweeps < *limit.budget.sweeps)) {
    limit.budget.sweeps = limit.own.sweeps = own.sweeps;
  }
  if (wanted.time_limit_s) limit.budget.time_limit_s = *wanted.time_limit_s - elapsed_s;
  if (own.time_limit_s) {
    const double left = *own.time_limit_s - core.stage_s();
    if (!limit.budget.time_limit_s || left < *limit.budget.time_limit_s) {
      limit.budget.time_limit_s = limit.own.time_limit_s = left;
    }
  }
  return limit;
}

// A limit that nothing is left of still gets the result of what was done: of the least time, and
// of sweeps that are done already.
Result Run::advance_stages(const Budget& wanted, const Observers& observers, std::stop_token stop) {
  constexpr double least_s = 1e-9;
  check_budget(wanted);
  const auto begin = Clock::now();
  const bool unlimited = !wanted.has_limit();
  for (;;) {
    RunCore& core = whole();
    auto limit = stages_->limit_of(core, wanted, seconds_since(begin));
    const bool last = stages_->is_last(core.earlier().stage);
    if (limit.budget.time_limit_s) {
      limit.budget.time_limit_s = std::max(least_s, *limit.budget.time_limit_s);
    }
    if (limit.budget.sweeps && *limit.budget.sweeps < 1) {
      return told(core.result_so_far(limit.by_work ? Stop::work_limit : Stop::sweep_limit), wanted);
    }
    std::optional<Result> result =
        core.advance(limit.budget, observers, stop, last ? nullptr : &limit.own);
    if (result) {
      if (limit.by_work && !limit.own.sweeps && result->stop == Stop::sweep_limit) {
        result->stop = Stop::work_limit;
      }
      const bool by_stages = last && unlimited && result->stop == Stop::sweep_limit;
      if (by_stages) result->stop = Stop::converged;
      return told(std::move(*result), wanted);
    }
    hand_over();
  }
}

void Run::hand_over() {
  const std::shared_ptr<Queue> queue = core_->share_queue();
  StageBegin next = core_->hand_on();
  core_.reset();  // its memory is that of the next stage
  core_ = stages_->make(std::move(next), queue);
}

// The stage of an archive, which is then loaded. Of a run of one schedule there is nothing to do.
void Run::go_to_stage(const Archive& archive) {
  const bool is_staged = archive.has("run.stage");
  if (!stages_ && !is_staged) return;
  if (!stages_ || !is_staged) {
    throw InvalidArgument("archive.stage",
                          is_staged ? "the archive is of a pipeline, and the run has one schedule"
                                    : "the run is of a pipeline, and the archive is of none",
                          "an archive of a run of the same schedule");
  }
  StageBegin begin;
  begin.earlier = EarlierStages::from(archive);
  if (begin.earlier.stages != stages_->first().earlier.stages) {
    throw InvalidArgument("archive.stage",
                          "the pipeline of the archive has another number of stages",
                          "an archive of a run of the same pipeline");
  }
  const DrawNaming naming = RunCore::naming_of(archive);
  const EarlierStages& now = whole().earlier();
  const bool fits = now.stage == begin.earlier.stage && now.sweeps == begin.earlier.sweeps &&
                    now.betas == begin.earlier.betas && core_->draw_naming() == naming;
  if (fits && now.parameters == begin.earlier.parameters) return;
  whole().require_idle();
  RunCore::require_replicas(archive, core_->batch().replicas());
  const std::shared_ptr<Queue> queue = core_->share_queue();
  core_.reset();
  core_ = stages_->make(std::move(begin), queue, naming);
}

std::int64_t Run::stage() const { return whole().earlier().stage; }

std::vector<std::int32_t> Run::origins() const {
  std::vector<std::int32_t> origins = whole().origins();
  const auto replicas = static_cast<std::size_t>(core_->batch().replicas());
  if (origins.empty()) {
    for (std::size_t r = 0; r < replicas; ++r) origins.push_back(static_cast<std::int32_t>(r));
  }
  origins.resize(replicas);
  return origins;
}

// The result of a stage becomes that of the run.
Result Run::told(Result result, const Budget& limit) const {
  const RunCore& core = whole();
  const EarlierStages& earlier = core.earlier();
  result.schedule = stages_->pipeline().name();
  result.step = stages_->pipeline().step_name();
  result.seed = stages_->options().seed;
  result.work.limit = limit.work_limit;
  result.stages = earlier.results;
  StageResult now = core.stage_result();
  now.sweeps = result.work.sweeps - earlier.sweeps;
  now.run_s = result.time.run_s;
  for (const StageResult& one : earlier.results) now.run_s -= one.run_s;
  now.best = result.objective;
  result.stages.push_back(std::move(now));
  const std::map<std::string, std::string> own = std::exchange(
      result.parameters, stages_->pipeline().parameters());  // of later stages as they are given
  for (const auto& [name, value] : earlier.parameters) result.parameters[name] = value;
  for (const auto& [name, value] : own) {
    result.parameters[std::to_string(earlier.stage + 1) + "." + name] = value;
  }
  return result;
}

}  // namespace kiln
