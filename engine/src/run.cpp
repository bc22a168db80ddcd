// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/run.hpp"

#include <utility>

#include "kiln/errors.hpp"

#include "pipelines/run_stages.hpp"
#include "plans/refused_batch.hpp"
#include "run_core.hpp"

namespace kiln {

namespace {

// When the memory of a run that could not be made is free again.
Fix fix_of_refusal(const Problem& problem, Schedule& schedule, const Budget& budget,
                   const RunOptions& options, const OpenedBackend& backend) {
  try {
    const RunPlan now = plan_run(problem, schedule, budget, options, backend);
    const std::int64_t fitting = now.fits() ? halved_replicas(now) : now.fitting_replicas();
    if (fitting > 0) return Fix::set_replicas(fitting);
  } catch (const Error&) {
    // The refusal says more.
  }
  return Fix::fewer_replicas();
}

std::unique_ptr<RunCore> make_core(const Problem& problem, Schedule& schedule, const Budget& budget,
                                   const RunOptions& options, const OpenedBackend& backend) {
  try {
    return std::make_unique<RunCore>(problem, schedule, budget, options, backend);
  } catch (const RefusedBatch& refused) {
    throw RefusedBatch(refused, refused.plan(),
                       fix_of_refusal(problem, schedule, budget, options, backend));
  }
}

}  // namespace

Run::Run(const Problem& problem, Schedule& schedule, const Budget& budget,
         const RunOptions& options, OpenedBackend backend) {
  if (const auto* const pipeline = schedule.as<HasStages>()) {
    stages_ = std::make_unique<RunStages>(problem, schedule, pipeline->stages(), budget, options,
                                          backend);
    core_ = stages_->make(stages_->first(), nullptr);
  } else {
    core_ = make_core(problem, schedule, budget, options, backend);
  }
}
Run::~Run() = default;

RunCore& Run::whole() const {
  if (core_) return *core_;
  throw InvalidArgument("run.broken",
                        "the run was lost: load() of a run of another draw naming failed",
                        "a run that was loaded", "make a new run");
}

Result Run::advance(const Observers& observers, std::stop_token stop) {
  return advance_to(budget(), observers, std::move(stop));
}
Result Run::advance_to(const Budget& limit, const Observers& observers, std::stop_token stop) {
  if (stages_) return advance_stages(limit, observers, std::move(stop));
  return *whole().advance(limit, observers, std::move(stop));
}
Result Run::result_so_far(Stop stop) {
  Result result = whole().result_so_far(stop);
  return stages_ ? told(std::move(result), stages_->budget()) : result;
}
void Run::settle() { whole().settle(); }
void Run::save(Archive& archive) const { whole().save(archive); }

// Replicas lie as the naming of draws wants it, so all arrays are made again for the other naming,
// on the same queue: archives may live on it. What can be checked is checked before they are gone.
void Run::load(const Archive& archive) {
  whole().require_idle();
  go_to_stage(archive);
  const DrawNaming former = core_->draw_naming(), naming = RunCore::naming_of(archive);
  if (naming == former || !RunCore::is_run(archive)) return core_->load(archive);
  RunOptions options = core_->options();
  options.draw_naming = naming;
  core_->require_naming(options, archive);
  const Problem& problem = core_->problem();
  Schedule& schedule = core_->schedule();
  const Budget budget = core_->budget();
  const OpenedBackend backend = core_->backend();
  const std::shared_ptr<Queue> queue = core_->share_queue();
  core_.reset();  // a schedule serves one run at a time
  try {
    core_ = std::make_unique<RunCore>(problem, schedule, budget, options, backend, queue);
  } catch (...) {
    options.draw_naming = former;
    core_ = std::make_unique<RunCore>(problem, schedule, budget, options, backend, queue);
    core_->give_up();  // it is no longer what it was
    throw;
  }
  core_->load(archive);
}

const Problem& Run::problem() const { return whole().problem(); }
const Budget& Run::budget() const { return stages_ ? stages_->budget() : whole().budget(); }
const OpenedBackend& Run::backend() const { return whole().backend(); }
ReplicaBatch& Run::batch() { return whole().batch(); }
Queue& Run::queue() { return whole().queue(); }
DrawNaming Run::draw_naming() const { return whole().draw_naming(); }
double Run::seconds_at(std::uint64_t step) const {
  const auto earlier = static_cast<std::uint64_t>(whole().earlier().sweeps);
  return core_->seconds_at(step > earlier ? step - earlier : 0);
}
RunCore& Run::core() { return whole(); }

}  // namespace kiln
